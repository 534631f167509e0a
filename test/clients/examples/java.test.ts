// The Java example, compiled by javac and run by the JDK.

import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { KEY, openForClients, run, TODAY, worth } from '../support.ts'
import { testConnector, testVersion, writeExample } from './connectors.ts'

const app = await openForClients()

await testConnector('java', async (file) => {
  await run('javac', ['-Xlint:all,-serial', '-Werror', file])
  return ['java', '-cp', dirname(file), 'Cambista']
})
testVersion('java', ['java', '--version'], /openjdk (\d+)/)

test('`java Cambista.java` runs the file without a compiled class', async (t) => {
  const file = await writeExample(t, 'java')
  const words = [file, '1', 'USD', 'CRC', TODAY]
  const output = await run('java', words, { CAMBISTA_URL: app.app.url, CAMBISTA_KEY: KEY })
  const venta = await worth(app, 'USD', 'CRC')
  assert.equal(output, `${venta} ${venta} ${TODAY}\n`)
})
