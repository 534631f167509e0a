// Companies with their agents and owners that a token may access, for a person who chooses one (decisions#directory).

import * as v from 'valibot'
import type { PageRequest } from '../../domain/documents/page-request.ts'
import { type ListPage, listAgents, listCompanies, listOwners } from '../../domain/documents/queries.ts'
import type { ReadDb } from '../../store/tables.ts'
import { authorizedToken, tokenAccess } from '../access/auth.ts'
import { Integer, titledObject, withDescription } from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, get, type Reply } from '../endpoint/endpoint.ts'
import { ASCENDING_PARAMETERS, nextCursor, parsePage } from '../endpoint/pages.ts'
import { idParam } from '../endpoint/params.ts'
import { loadPlainText } from './agents.ts'

const pageFields = { next_after: Integer, has_more: v.boolean() }
const status = v.literal('success')

const CompaniesOut = titledObject('CompanyPage', {
  status,
  companies: v.array(v.object({ id: Integer, name: v.string() })),
  ...pageFields,
})

const AgentsOut = titledObject('AgentPage', {
  status,
  company_id: Integer,
  agents: v.array(
    v.object({
      id: Integer,
      name: v.string(),
      description: withDescription(v.string(), 'As plain text'),
      active: withDescription(v.boolean(), 'Only an active one can be given documents'),
    }),
  ),
  ...pageFields,
})

const OwnersOut = titledObject('OwnerPage', {
  status,
  company_id: Integer,
  owners: v.array(
    v.object({
      id: Integer,
      name: v.string(),
      company_id: withDescription(v.nullable(Integer), 'null: it may own documents of any company'),
    }),
  ),
  ...pageFields,
})

const params = v.object({ id: idParam('Id of the company') })
const query = v.object(ASCENDING_PARAMETERS)
const shared = { tag: 'Agents', query } as const
const notFound = 'Company not found, or the token is of another one'

export function directoryEndpoints(db: ReadDb): AnyEndpoint[] {
  return [
    get({
      path: '/api/v1/companies',
      about: 'A token of one company sees that one alone. Go on at next_after while has_more is true.',
      ...shared,
      answer: CompaniesOut,
      async handle({ event, query }) {
        const page = parsePage(query)
        const part = await listCompanies(db, tokenAccess(authorizedToken(event)), page)
        return listReply('companies', part, page, ({ id, name }) => ({ id, name }))
      },
    }),

    get({
      path: '/api/v1/companies/{id}/agents',
      about: 'For a person who chooses among names; an inactive agent may still have documents.',
      ...shared,
      params,
      answer: AgentsOut,
      notFound,
      async handle({ event, query, params }) {
        const plainText = await loadPlainText()
        const page = parsePage(query)
        const part = await listAgents(db, tokenAccess(authorizedToken(event)), params.id, page)
        const toRow = ({ id, name, description, active }: (typeof part.rows)[number]) => ({
          id,
          name,
          description: plainText(description),
          active,
        })
        return listReply('agents', part, page, toRow, { company_id: params.id })
      },
    }),

    get({
      path: '/api/v1/companies/{id}/owners',
      about: 'Those of the company itself, and those of no company, which may own documents of any.',
      ...shared,
      params,
      answer: OwnersOut,
      notFound,
      async handle({ event, query, params }) {
        const page = parsePage(query)
        const part = await listOwners(db, tokenAccess(authorizedToken(event)), params.id, page)
        const toRow = ({ id, name, company_id }: (typeof part.rows)[number]) => ({ id, name, company_id })
        return listReply('owners', part, page, toRow, { company_id: params.id })
      },
    }),
  ]
}

function listReply<Row extends { id: number }>(
  name: string,
  { rows, hasMore }: ListPage<Row>,
  page: PageRequest,
  toRow: (row: Row) => unknown,
  about: { company_id?: number } = {},
): Reply {
  const cursor = nextCursor(page, rows.at(-1), hasMore)
  return freshReply({ status: 'success', ...about, [name]: rows.map(toRow), ...cursor })
}
