// Lists of tools and resources, in the order of tools/list and resources/list.

import type { InvoiceRates } from '../../domain/invoices/rate-check.ts'
import { claimTools } from './documents/claims.ts'
import type { DocumentQueries, DocumentUploads, DocumentWork } from './documents/document-queries.ts'
import { documentResource, listTool, readTool, waitTool } from './documents/documents.ts'
import { invoiceRateTool } from './documents/invoice-rate.ts'
import { uploadTool } from './documents/uploads.ts'
import type { Resource } from './protocol/resource.ts'
import type { Tool } from './protocol/tool.ts'
import { type CatalogueDeps, catalogueTools, seriesResource } from './rates/catalogue.ts'
import { convertTool } from './rates/convert.ts'
import { historyTool, statisticsTool } from './rates/history.ts'
import { type IndicatorToolDeps, indicatorTools } from './rates/indicators.ts'
import { dayRatesTool, rateTool } from './rates/rates.ts'

/** Tools that read and never wait. They work over a data directory without a server. */
export function createReadTools(
  rates: CatalogueDeps & Pick<IndicatorToolDeps, 'indicators'>,
  documents: DocumentQueries,
  invoiceRates: InvoiceRates,
): Tool[] {
  const { cache, health, indicators } = rates
  const { clock } = health
  const deps = { cache, clock }
  return [
    rateTool(deps),
    dayRatesTool(deps),
    convertTool(deps),
    historyTool(deps),
    statisticsTool(deps),
    ...catalogueTools(rates),
    ...indicatorTools({ indicators, clock }),
    listTool(documents),
    readTool(documents),
    invoiceRateTool(documents, invoiceRates),
  ]
}

/** Tools that wait or write, which only the server that receives the documents can do. */
export function createWorkTools(documents: DocumentQueries & DocumentWork & DocumentUploads): Tool[] {
  return [waitTool(documents), ...claimTools(documents), uploadTool(documents)]
}

export function createResources(rates: CatalogueDeps, documents: DocumentQueries): Resource[] {
  return [seriesResource(rates), documentResource(documents)]
}
