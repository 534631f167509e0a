// The addresses and the TypeScript of `cambista manual programs`, as printed. The address of the server alone differs.

import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { EXAMPLES } from '../../../src/cli/commands/example.ts'
import { temporaryDirectory } from '../../support/app.ts'
import { runCommand } from '../../support/terminal.ts'
import { KEY, openForClients, run } from '../support.ts'

const ROOT = join(import.meta.dirname, '../../..')
const app = await openForClients()
const lasting = { after: (work: () => void) => after(work) } as TestContext
const { out: page } = await runCommand(['manual', 'programs'])

/** Values of the placeholders that other programs fill in. */
const PLACEHOLDERS: Record<string, string> = {
  KEY,
  __MULTICURRENCY_APP_KEY__: KEY,
  __MULTICURRENCY_APP_SOURCE__: 'USD',
  '{transaction_date}': '2026-03-20',
}

/** Returns the addresses of the section about programs that are complete without a program. */
function listAddresses(): string[] {
  const [, section = ''] = /\n## Your program\n([\s\S]*?)\n## /.exec(page) ?? []
  const addresses = [...section.matchAll(/https?:\/\/HOST(\/[^`"]+)/g)].map(([, path = '']) => path)
  return addresses.filter((path) => /^\/(v\d|k\/KEY|live)/.test(path) && !/%1|\/v2$/.test(path))
}

for (const path of listAddresses()) {
  test(`the address ${path} of \`manual programs\` has an answer`, async () => {
    const address = Object.entries(PLACEHOLDERS).reduce(
      (text, [name, value]) => text.replaceAll(name, value),
      path,
    )
    const response = await fetch(app.app.url + address, { headers: { 'X-API-Key': KEY } })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    assert.doesNotMatch(text, /"success":false/)
  })
}

test('`manual programs` has at least ten addresses, and names each example', () => {
  assert.ok(listAddresses().length >= 10)
  const [, section = ''] = /\n## A program of your own\n([\s\S]*?)\n## /.exec(page) ?? []
  const names: Record<string, string> = { csharp: 'C#', 'google-sheets': 'Google Sheets' }
  for (const name of Object.keys(EXAMPLES)) {
    assert.ok(section.toLowerCase().includes((names[name] ?? name).toLowerCase()), name)
  }
})

test('the printed command makes the types with which the printed program compiles, and it runs', async () => {
  const [, command = ''] = /^```sh\n(npx [^\n]+)\n```/m.exec(page) ?? []
  const [, program = ''] = /^```ts\n([\s\S]*?)^```/m.exec(page) ?? []
  const directory = temporaryDirectory(lasting)
  const here = (text: string) => text.replaceAll('http://127.0.0.1:8080', app.app.url)
  symlinkSync(join(ROOT, 'test/clients/node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  await run('sh', ['-c', 'cd "$1" && eval "$2"', 'sh', directory, here(command)], { HOME: directory })
  const file = join(directory, 'program.ts')
  writeFileSync(file, here(program))
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
  const options = [
    '--strict',
    '--noEmit',
    '--module',
    'nodenext',
    '--allowImportingTsExtensions',
    '--ignoreConfig',
  ]
  await run(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...types, file])
  const query = 'amount=1500.50&from=USD&to=CRC&on=2026-03-20&decimals=2'
  const answer = await app.json<Record<string, string>>(`/api/v1/convert?${query}`)
  const output = await run(process.execPath, [file], { CAMBISTA_KEY: KEY })
  assert.equal(output, `${answer.result} ${answer.rate} ${answer.rate_date}\n`)
})
