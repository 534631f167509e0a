// Packages that a start must not load: each costs milliseconds before the first answer. A new dependency belongs to this list
// or to the packages of test/bundle.test.ts.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startProgram } from './support/program.ts'
import { temporaryDirectory } from './support/temporary.ts'

const NOT_AT_START = [
  '@aws-sdk/client-s3',
  '@fastify/busboy',
  '@preact/signals',
  '@valibot/to-json-schema',
  'asn1js',
  'csv-parse',
  'htmlparser2',
  'imapflow',
  'ofetch',
  'pg',
  'postal-mime',
  'preact',
  'prom-client',
  'uplot',
  'uqr',
  'yauzl',
]
const ROOT = join(import.meta.dirname, '..')
const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
}

for (const locale of ['C', 'es_CR.UTF-8']) {
  test(`serve loads no package of NOT_AT_START before its first 200 (${locale})`, async (t) => {
    const packages = await packagesAtStart(t, locale)
    assert.ok(packages.has('h3'), 'the packages are listed')
    const notLoaded = Object.keys(dependencies).filter((name) => !packages.has(name))
    assert.deepEqual(notLoaded.sort(), NOT_AT_START)
  })
}

async function packagesAtStart(t: TestContext, locale: string): Promise<Set<string>> {
  const dataDir = join(temporaryDirectory(t), 'data')
  const args = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir]
  const loader = join(ROOT, 'test/support/list-modules.ts')
  const launcher: [string, ...string[]] = [
    process.execPath,
    '--import',
    loader,
    join(ROOT, 'bin/cambista.ts'),
  ]
  const server = startProgram(t, args, { LC_ALL: locale }, launcher)
  const [, url] = await server.waitForOutput(/listening url=(\S+)/)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  const modules = server.printed.err.matchAll(/^module .*node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm)
  return new Set([...modules].map(([, name = '']) => name))
}
