import * as v from 'valibot'
import { checkId, isMissing } from '../../domain/documents/documents.ts'
import { activeAgentsOf } from '../../domain/documents/queries.ts'
import { AppError } from '../../errors.ts'
import type { Db } from '../../store/tables.ts'
import { accessOf, authorizedToken } from '../api/auth.ts'
import { wholeBodyOf } from '../api/body.ts'
import { type AnyEndpoint, freshReply, post } from '../api/endpoint.ts'
import { nodeOf } from '../api/send.ts'
import { fieldsOf } from './fields.ts'

const BODY_LIMITS = { maxBytes: 64 * 1024, idleMs: 30_000 }
const Id = v.pipe(v.number(), v.integer())

const AgentsIn = v.pipe(
  v.object({ company_id: Id, code: v.pipe(v.string(), v.minLength(1)) }),
  v.title('AgentsOfCompany'),
)

const AgentsOut = v.pipe(
  v.object({
    status: v.literal('success'),
    company_id: Id,
    company_name: v.string(),
    service_code: v.string(),
    agents: v.array(v.object({ id: Id, name: v.string(), description: v.string() })),
    total_agents: Id,
  }),
  v.title('ActiveAgents'),
)

export function agentsEndpoints({ db }: { db: Db }): AnyEndpoint[] {
  return [
    post({
      path: '/api/v1/agent/get_by_company',
      summary: 'Active agents of a company',
      about: 'By the id of the company and its service code, which must both fit.',
      tag: 'Agents',
      scope: 'agent',
      body: AgentsIn,
      answer: AgentsOut,
      notFound: 'Company not found',
      async handle({ event }) {
        const { req, res } = nodeOf(event)
        const body = await wholeBodyOf(req, res, BODY_LIMITS)
        const { company_id, code } = fieldsOf(body, ['company_id', 'code'])
        if (isMissing(company_id) || isMissing(code)) {
          throw new AppError('bad-request', 'Fields company_id and code are required')
        }
        const id = checkId('company_id', company_id)
        if (typeof code !== 'string') throw new AppError('bad-request', 'code must be a string')
        const asked = { companyId: id, code }
        const { company, agents } = await activeAgentsOf(db, accessOf(authorizedToken(event)), asked)
        const { plainText } = await import('./plain-text.ts') // a parser of HTML, which no start needs
        return freshReply({
          status: 'success',
          company_id: id,
          company_name: company.name,
          service_code: company.code,
          agents: agents.map(({ id, name, description }) => ({
            id,
            name,
            description: plainText(description),
          })),
          total_agents: agents.length,
        })
      },
    }),
  ]
}
