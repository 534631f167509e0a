// Which tools and resources there are, in the order in which they are listed.

import { claimTools } from './documents/claims.ts'
import { documentResource, documentTools, waitTools } from './documents/documents.ts'
import type { DocumentQueries, DocumentWork } from './documents/queries.ts'
import type { Resource } from './protocol/resource.ts'
import type { Tool } from './protocol/tool.ts'
import { type CatalogueDeps, catalogueTools, seriesResource } from './rates/catalogue.ts'
import { convertTools } from './rates/convert.ts'
import { historyTools } from './rates/history.ts'
import { rateTools } from './rates/rates.ts'

/** What only reads, and waits for nothing. */
export function toolsOver(rates: CatalogueDeps, documents: DocumentQueries): Tool[] {
  return [
    ...rateTools(rates),
    ...convertTools(rates),
    ...historyTools(rates),
    ...catalogueTools(rates),
    ...documentTools(documents),
  ]
}

/** What needs the server that the documents are sent to. */
export function workToolsOver(documents: DocumentWork): Tool[] {
  return [...waitTools(documents), ...claimTools(documents)]
}

export function resourcesOver(rates: CatalogueDeps, documents: DocumentQueries): Resource[] {
  return [seriesResource(rates), documentResource(documents)]
}
