import * as v from 'valibot'
import { listActiveAgents } from '../../domain/documents/queries.ts'
import { checkId, isEmptyValue } from '../../domain/documents/uploads/checks.ts'
import { AppError } from '../../runtime/errors.ts'
import type { ReadDb } from '../../store/tables.ts'
import { authorizedToken, tokenAccess } from '../access/auth.ts'
import { Integer, titledObject } from '../endpoint/answers/shapes.ts'
import { readWholeBody } from '../endpoint/body.ts'
import { type AnyEndpoint, freshReply, post } from '../endpoint/endpoint.ts'
import { parseFields } from '../endpoint/fields.ts'

const AgentsBody = titledObject('AgentsOfCompany', {
  company_id: Integer,
  code: v.pipe(v.string(), v.minLength(1)),
})

const AgentsOut = titledObject('ActiveAgents', {
  status: v.literal('success'),
  company_id: Integer,
  company_name: v.string(),
  service_code: v.string(),
  agents: v.array(v.object({ id: Integer, name: v.string(), description: v.string() })),
  total_agents: Integer,
})

export function agentsEndpoints(db: ReadDb): AnyEndpoint[] {
  return [
    post({
      path: '/api/v1/agent/get_by_company',
      about: 'By the id of the company and its service code, which must both fit.',
      tag: 'Agents',
      body: AgentsBody,
      answer: AgentsOut,
      notFound: 'Company not found',
      async handle({ event }) {
        const body = await readWholeBody(event)
        const { company_id, code } = parseFields(body, ['company_id', 'code'])
        if (isEmptyValue(company_id) || isEmptyValue(code)) {
          throw new AppError('bad-request', 'Fields company_id and code are required')
        }
        const id = checkId('company_id', company_id)
        if (typeof code !== 'string') throw new AppError('bad-request', 'code must be a string')
        const filter = { companyId: id, code }
        const { company, agents } = await listActiveAgents(db, tokenAccess(authorizedToken(event)), filter)
        const plainText = await loadPlainText()
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

/** Loads the function from HTML to text, whose parser no start needs. */
export async function loadPlainText(): Promise<(html: string) => string> {
  const { plainText } = await import('./plain-text.ts')
  return plainText
}
