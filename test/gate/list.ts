// The list of the gate: `.ci/run` runs these tests for each change. rules.ts adds the tests of the changed parts.
// `.ci/full` runs all.

import type { LaneName } from './lanes.ts'

/** Files of a lane, each with its reason; a text instead of files is the reason for the whole lane. */
export const GATE: Readonly<Partial<Record<LaneName, string | Readonly<Record<string, string>>>>> = {
  process: 'every rule and every answer, within one process: a change anywhere may break them',
  budget: 'what a request costs, in counts that no machine changes: a slow creep has no other witness',
  e2e: {
    'test/e2e/serve.test.ts': 'smoke of the built file: it syncs, serves a rate, stops, and starts again',
    'test/e2e/documents.test.ts': 'smoke of the built file: an upload survives a kill',
  },
  engines: {
    'test/engines/contract.test.ts': 'the contract of an engine, on PostgreSQL',
    'test/engines/contents/contract.test.ts': 'the contract of a blob store, in a bucket',
    'test/engines/schema.test.ts': 'the schema of PostgreSQL is that of SQLite',
    'test/engines/nodes.test.ts': 'two nodes over one database',
    'test/engines/claims.test.ts': 'workers of two nodes never share a document',
    'test/engines/uploads.test.ts': 'uploads of two nodes',
    'test/engines/maintenance/migrations.test.ts': 'an upgrade keeps each row',
    'test/engines/maintenance/move.test.ts': 'a move to PostgreSQL keeps each row',
    // Together these call each of the 390 shared functions of src/store that the suites call on PostgreSQL. A file has
    // the number of those that no other file of this list calls.
    'test/api/documents/claims-of-several.test.ts': '5 queries: documents',
    'test/api/documents/directory.test.ts': 'query selectOwnerPage',
    'test/api/documents/priorities.test.ts': 'query updatePriority',
    'test/api/documents/search.test.ts':
      '120 queries: documents, store, rates, access, hooks, cluster, directory, mail',
    'test/api/documents/summary.test.ts': 'query isLeaseExpired',
    'test/api/hooks.test.ts': '39 queries: documents, hooks, rates, mail, store',
    'test/api/invoices/filters.test.ts': '11 queries: documents, directory',
    'test/api/key-use.test.ts': '3 queries: access',
    'test/api/mail/document-mail.test.ts': '21 queries: documents, directory, mail',
    'test/api/mcp/indicators.test.ts': 'query isOpenIndicatorRun, selectNewestValues',
    'test/api/probation.test.ts': '6 queries: store',
    'test/api/rates/rates.test.ts': '7 queries: rates, documents',
    'test/api/rates/revisions.test.ts': 'query selectRevisionPage',
    'test/api/rates/statement.test.ts': 'query selectValueChange',
    'test/api/web/links.test.ts': '30 queries: access, directory, documents',
    'test/api/web/session.test.ts': '3 queries: access, rates, documents',
    'test/api/web/tickets.test.ts': 'query findTokenByName, revokeToken',
    'test/unit/domain/directory/import.test.ts': '3 queries: directory',
    'test/unit/domain/documents/gc.test.ts': '5 queries: documents',
    'test/unit/domain/documents/removal-beside-uploads.test.ts': 'query replaceResult',
    'test/unit/domain/documents/search.test.ts': 'query updateFoldedNames',
    'test/unit/domain/hooks/deliveries.test.ts': '9 queries: hooks',
    'test/unit/domain/hooks/sender.test.ts': 'query updateHookOfSecret',
    'test/unit/domain/invoices/older-documents.test.ts': 'query replaceInvoices, selectUnread',
    'test/unit/domain/mail/mailboxes.test.ts': '5 queries: mail',
    'test/unit/domain/mail/store-mail.test.ts': '6 queries: mail, directory',
    'test/unit/domain/operations/housekeeping.test.ts': 'query deleteForgottenMail, deleteOldAnswers',
    'test/unit/store/cluster/leader.test.ts': 'query logFailure',
    'test/unit/store/documents/counts.test.ts': '7 queries: documents',
    'test/unit/store/documents/documents.test.ts': 'query isBlobReferenced',
    'test/unit/store/documents/events.test.ts': 'query deleteOldEvents',
    'test/unit/store/documents/usage.test.ts': '4 queries: documents',
    'test/unit/store/indicators/indicators.test.ts': '29 queries: indicators, store',
    'test/unit/store/invariants.test.ts': 'query attachmentKey, updateRun',
    'test/unit/store/mail/messages.test.ts': '13 queries: mail, documents',
    'test/unit/store/rates/sync-runs.test.ts': 'query selectLastFinishedRun',
    'test/unit/store/tables.test.ts': '3 queries: cluster, hooks',
    'test/unit/sync/discard.test.ts': 'query deleteLaterRates',
    'test/unit/sync/import-publication.test.ts': 'query selectDiscardedDays, selectRevisions',
    'test/unit/sync/windows/empty-days.test.ts': 'query replaceEmptyDays, selectEmptyDays',
    'test/unit/sync/windows/jumps.test.ts': '3 queries: rates',
    'test/unit/sync/windows/withheld.test.ts': 'query replaceWithheld',
    'test/unit/sync/run-failures.test.ts': 'query findOpenTrigger, findPreviousRun',
    'test/unit/sync/run-queue.test.ts': '28 queries: rates, hooks, indicators',
    'test/unit/sync/run.test.ts': 'query updateSeriesEnabled',
    'test/unit/sync/second-opinion.test.ts': 'query findOpinion, upsertOpinion',
  },
  faults: {
    'test/faults/rates-model.test.ts': 'rates against an independent model',
    'test/faults/as-of-model.test.ts': 'answers of the past against an independent model',
    'test/faults/claims-model.test.ts': 'claims against an independent model',
    'test/faults/finished-answers.test.ts': 'a finished answer is the same bytes',
    'test/faults/disks/power-cuts.test.ts': 'an acknowledged document survives a power cut',
  },
  page: {
    'test/web/screens.test.ts': 'the first screens',
    'test/web/errands.test.ts': 'what people do on the page',
    'test/web/exactness.test.ts': 'each figure on the page is that of the API',
    'test/web/security/security-policy.test.ts': 'the policy of the page against foreign code',
  },
  clients: {
    'test/clients/soap.test.ts': 'the SOAP clients of Python and PHP',
    'test/clients/mcp.test.ts': 'the MCP clients of both protocol versions',
    'test/clients/calc.test.ts': 'a spreadsheet',
  },
}

/**
 * Files without a second run after a failure: there a failure by chance is a race of the program. Others run once more,
 * alone.
 */
export const NO_SECOND_RUN: readonly RegExp[] = [
  /model/, // the answers of random stores
  /kill|power-cuts/, // acknowledged means stored
  /claim/, // a document has one worker
  /upload/, // no document is lost
  /exactness|every-way|pair-days/, // no digit is wrong
  /secur|secret|access|auth|attacks/, // nobody gets in
]
