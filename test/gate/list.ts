// The list of the gate: `.ci/run` runs these tests for each change. rules.ts adds the tests of the changed parts.
// `.ci/full` runs all.

import type { LaneName } from './lanes.ts'

/** Files of a lane, each with its reason; a text instead of files is the reason for the whole lane. */
export const GATE: Readonly<Partial<Record<LaneName, string | Readonly<Record<string, string>>>>> = {
  process: 'every rule and every answer, within one process: a change anywhere may break them',
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
  },
  faults: {
    'test/faults/rates-model.test.ts': 'rates against an independent model',
    'test/faults/as-of-model.test.ts': 'answers of the past against an independent model',
    'test/faults/claims-model.test.ts': 'claims against an independent model',
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
  /exactness|every-way/, // no digit is wrong
  /secur|secret|access|auth|attacks/, // nobody gets in
]
