// Companies, and their agents and owners, for a person who chooses among them, by what a token may see (decisions 3.15).

import * as v from 'valibot'
import { agentsOn, companiesOn, ownersOn, type Page, type Part } from '../../domain/documents/queries.ts'
import type { Db } from '../../store/tables.ts'
import { accessOf, authorizedToken } from '../api/auth.ts'
import { type AnyEndpoint, freshReply, get, type Reply } from '../api/endpoint.ts'
import { ASCENDING_PARAMETERS, pageOf, placeAfter } from '../api/pages.ts'
import { idParam } from '../api/params.ts'

const Id = v.pipe(v.number(), v.integer())
const place = { next_after: Id, has_more: v.boolean() }
const status = v.literal('success')

const CompaniesOut = v.pipe(
  v.object({
    status,
    companies: v.array(v.object({ id: Id, name: v.string() })),
    ...place,
  }),
  v.title('CompanyPage'),
)

const AgentsOut = v.pipe(
  v.object({
    status,
    company_id: Id,
    agents: v.array(
      v.object({
        id: Id,
        name: v.string(),
        description: v.pipe(v.string(), v.description('As plain text')),
        active: v.pipe(v.boolean(), v.description('Only an active one can be given documents')),
      }),
    ),
    ...place,
  }),
  v.title('AgentPage'),
)

const OwnersOut = v.pipe(
  v.object({
    status,
    company_id: Id,
    owners: v.array(
      v.object({
        id: Id,
        name: v.string(),
        company_id: v.pipe(v.nullable(Id), v.description('null: it may own documents of any company')),
      }),
    ),
    ...place,
  }),
  v.title('OwnerPage'),
)

const params = v.object({ id: idParam('Id of the company') })
const query = v.object(ASCENDING_PARAMETERS)
const shared = { tag: 'Agents', scope: 'documents', query } as const
const notFound = 'Company not found, or the token is of another one'

export function directoryEndpoints({ db }: { db: Db }): AnyEndpoint[] {
  return [
    get({
      path: '/api/v1/companies',
      summary: 'Companies that the token may see, by id',
      about: 'A token of one company sees that one alone. Go on at next_after while has_more is true.',
      ...shared,
      answer: CompaniesOut,
      async handle({ event, query }) {
        const page = pageOf(query)
        const part = await companiesOn(db, accessOf(authorizedToken(event)), page)
        return partReply('companies', part, page, ({ id, name }) => ({ id, name }))
      },
    }),

    get({
      path: '/api/v1/companies/{id}/agents',
      summary: 'Agents of a company by id, active or not',
      about: 'For a person who chooses among names; an inactive agent may still have documents.',
      ...shared,
      params,
      answer: AgentsOut,
      notFound,
      async handle({ event, query, params }) {
        const page = pageOf(query)
        const part = await agentsOn(db, accessOf(authorizedToken(event)), params.id, page)
        const { plainText } = await import('./plain-text.ts') // a parser of HTML, which no start needs
        const shown = ({ id, name, description, active }: (typeof part.rows)[number]) => ({
          id,
          name,
          description: plainText(description),
          active,
        })
        return partReply('agents', part, page, shown, { company_id: params.id })
      },
    }),

    get({
      path: '/api/v1/companies/{id}/owners',
      summary: 'Owners by id that may own documents of a company',
      about: 'Those of the company itself, and those of no company, which may own documents of any.',
      ...shared,
      params,
      answer: OwnersOut,
      notFound,
      async handle({ event, query, params }) {
        const page = pageOf(query)
        const part = await ownersOn(db, accessOf(authorizedToken(event)), params.id, page)
        const shown = ({ id, name, company_id }: (typeof part.rows)[number]) => ({ id, name, company_id })
        return partReply('owners', part, page, shown, { company_id: params.id })
      },
    }),
  ]
}

function partReply<Row extends { id: number }>(
  name: string,
  { rows, hasMore }: Part<Row>,
  page: Page,
  shown: (row: Row) => unknown,
  about: { company_id?: number } = {},
): Reply {
  const place = placeAfter(page, rows.at(-1), hasMore)
  return freshReply({ status: 'success', ...about, [name]: rows.map(shown), ...place })
}
