// The tests that a changed file adds to the list of the gate. Each file of the repository has a rule.

import type { LaneName } from './lanes.ts'

export type Rule = {
  paths: RegExp
  /** Only files whose text matches. */
  text?: RegExp
  /** Files that one of `paths` imports itself count too. */
  countsImports?: boolean
  /** Whole lanes, or a pattern of paths of test files in any lane. `[]`: the list of the gate suffices. */
  adds: 'everything' | readonly (LaneName | RegExp)[]
  /** The change needs no test but those of the repository itself, if each changed file is such. */
  isText?: boolean
  reason: string
}

export const RULES: readonly Rule[] = [
  {
    paths:
      /^(README\.md|CHANGELOG\.md|LICENSE|\.editorconfig|\.gitignore|\.github\/[^/]+|(src|test)\/(.*\/)?(README|DECISIONS)\.md)$/,
    adds: [],
    isText: true,
    reason: 'a text',
  },
  {
    paths:
      /^(\.ci\/|\.github\/workflows\/|package(-lock)?\.json$|\.npmrc$|tsconfig\.json$|biome\.json$|build\.mjs$|test\/(support|contract|gate|fixtures)\/)/,
    adds: 'everything',
    reason: 'every test stands on it',
  },
  {
    paths:
      /^(bin\/|src\/(main|app)\.ts$|src\/(values|runtime)\/|src\/http\/(apis|server|routes)\.ts$|src\/bundle\.mjs$)/,
    adds: 'everything',
    reason: 'the whole program stands on it',
  },

  // The page and its server
  { paths: /^src\/(web|http\/web)\//, adds: ['page'], reason: 'the page' },
  { paths: /^src\/http\/.*\.ts$/, text: /from 'valibot'/, adds: ['page'], reason: 'a schema of an answer' },
  {
    paths: /^src\/http\/openapi\//,
    adds: [/^test\/web\/(docs|guides)/, /^test\/clients\/openapi/],
    reason: 'the description',
  },
  {
    paths: /^src\/http\/(listener|endpoint|access)\/|^src\/http\/[^/]+\.ts$/,
    adds: ['faults', 'clients', 'page'],
    reason: 'each answer stands on it',
  },
  {
    paths: /^src\/http\/(documents|listings)\//,
    adds: [/documents|upload|claim|hostile\/|waiting/],
    reason: 'documents',
  },
  {
    paths: /^src\/http\/(rates|figures)\//,
    adds: [/rates|pair|statements|hostile\/(parameters|load)/],
    reason: 'rates',
  },
  { paths: /^src\/http\/status\//, adds: [/status|alerts/], reason: 'the status' },
  {
    paths: /^src\/http\/compat\//,
    adds: ['clients', /shapes|ecb-files|web\/doors/],
    reason: 'shapes of other services',
  },
  { paths: /^src\/http\/mcp\//, adds: [/mcp/], reason: 'MCP' },

  // Rows and blobs
  {
    paths: /^src\/store\/(postgres|cluster|blobs\/bucket)\//,
    countsImports: true,
    adds: ['engines'],
    reason: 'several nodes',
  },
  { paths: /^(schema\.sql|src\/store\/[^/]+\.ts)$/, adds: ['engines', 'e2e', 'faults'], reason: 'the store' },
  {
    paths: /^src\/store\/(sqlite|blobs)\//,
    adds: ['faults', /engines\/contents/, /e2e\/backup/],
    reason: 'the disk',
  },
  {
    paths: /^src\/(store|domain)\/documents\//,
    adds: [/documents|upload|claim|waiting|contents|nodes/],
    reason: 'documents',
  },
  {
    paths: /^src\/(store|domain)\/rates\//,
    adds: [/rates|pair|statements|corrections|as-of|read-model|prices/],
    reason: 'rates',
  },
  { paths: /^src\/(store|domain)\/indicators\//, adds: [/indicators/], reason: 'indicators' },
  { paths: /^src\/(store|domain)\/hooks\//, adds: [/hooks?[.\-/]/], reason: 'hooks' },
  {
    paths: /^src\/(store|domain)\/(access|directory)\//,
    adds: [/secret|access|directory|security|web\/documents/],
    reason: 'keys, tokens and companies',
  },
  {
    paths: /^src\/domain\/operations\//,
    adds: ['e2e', /maintenance|disks|backup|older|many|standby|lost|cli\//],
    reason: 'operations',
  },

  // Sources, mail and formats
  {
    paths: /^src\/(sync|providers)\//,
    adds: [/sync|scheduler|upstream|time|week|corrections|indicators|rates-model|second|prices|status/],
    reason: 'syncs',
  },
  {
    paths: /^src\/(domain|store|formats)\/mail\//,
    countsImports: true,
    adds: [/mail/],
    reason: 'mail',
  },
  { paths: /^src\/(domain|formats)\/invoices\//, adds: [/invoice|mail/], reason: 'invoices' },
  { paths: /^src\/formats\//, adds: [/invoice|mail|calc|hostile|doors|import/], reason: 'a format of files' },

  // The command line, packages and texts
  { paths: /^src\/cli\//, adds: ['e2e', /cli\/|maintenance/], reason: 'commands' },
  { paths: /^src\/packaging\//, adds: ['e2e'], reason: 'what the build makes' },
  {
    paths: /^src\/(examples|manual)\//,
    adds: [/^test\/clients\/(examples|guides)/, /^test\/web\/(docs|guides)/],
    reason: 'examples and guides',
  },
  { paths: /^src\/demo\//, adds: ['e2e'], reason: 'the demo' },

  // Tests: a changed test file always runs.
  { paths: /^test\/.*\.test\.ts$/, adds: [], reason: 'a test' },
  { paths: /^test\/clients\/(?!.*\.test\.ts$)/, adds: ['clients'], reason: 'programs of the clients' },
  { paths: /^test\/web\/(?!.*\.test\.ts$)/, adds: ['page'], reason: 'tests of the page stand on it' },
  { paths: /^test\/faults\/(?!.*\.test\.ts$)/, adds: ['faults'], reason: 'tests of faults stand on it' },
  {
    paths: /^test\/(e2e|errands)\/(?!.*\.test\.ts$)/,
    adds: ['e2e'],
    reason: 'tests of the built file stand on it',
  },
  {
    paths: /^test\/(api|unit|examples|promises)\/(?!.*\.test\.ts$)/,
    adds: [],
    reason: '`npm test` runs whole',
  },
  { paths: /^test\/(budget\/|bench\/budget\.json)/, adds: ['budget'], reason: 'the budget of requests' },
  {
    paths: /^test\/(release|bench\/(?!budget\.json)|long\.ts|second-runs\.txt)/,
    adds: [],
    reason: 'the gate does not run it',
  },
]
