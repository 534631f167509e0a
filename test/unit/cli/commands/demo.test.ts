// `demo`, for a user who has nothing but the executable.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startProgram } from '../../../support/program.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

const run = promisify(execFile)

test('each command line that `demo` prints works, in any directory', async (t) => {
  const program = startProgram(t, ['demo', '--port', '0', '--host', '[::1]'])
  await program.waitForOutput(/openapi\.json\n/)
  const lines = program.printed.out.split('\n').filter((line) => /^ {2}curl /.test(line))
  assert.equal(lines.length, 12)
  const cwd = temporaryDirectory(t)
  const answers: string[] = []
  for (const line of lines) {
    // A line requests an old day, which the server may not have fetched yet.
    const retry = 'curl -sSf --retry 100 --retry-delay 1 --retry-all-errors'
    const { stdout } = await run('bash', ['-c', line.replace('curl -s', retry)], { cwd })
    answers.push(stdout)
  }
  assert.match(
    answers.find((one) => one.includes('created_documents')) ?? '',
    /1 document created successfully/,
  )
  assert.ok(
    answers.some((one) => one.startsWith('{"dolar":{"venta":')),
    'Hacienda’s shape answers, without a key',
  )
  assert.ok(
    answers.some((one) => one.startsWith('{"amount":1.0,"base":"USD"')),
    'and Frankfurter’s',
  )
  assert.ok(answers.includes('Factura 1: 15000 CRC\n'), 'the document is fetched back')
  const [, origin = '', code] =
    /^ {2}(http:\/\/\[::1\]:\d+)\/#login=([\w-]{32})$/m.exec(program.printed.out) ?? []
  const session = await fetch(`${origin}/session/code`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  const { key, token } = (await session.json()) as Record<string, { name: string }>
  assert.deepEqual([key?.name, token?.name], ['demo', 'demo'], 'the link signs in with a key and a token')
  program.child.kill('SIGTERM')
  assert.equal(await program.waitForExit(), 0)
})

const HEADS = {
  en: /^cambista \S+ demo: every value is invented; nothing is kept\.\nData directory until it ends: (\S+)$/m,
  es: /^cambista \S+, demostración: todos los valores son inventados; nada se conserva\.\nDirectorio de datos mientras dura: (\S+)$/m,
}
for (const [language, head] of Object.entries(HEADS)) {
  test(`\`demo\` names its data directory and explains its examples, in ${language}`, async (t) => {
    const TMPDIR = temporaryDirectory(t)
    const program = startProgram(t, ['demo', '--port', '0'], { LANG: `${language}_CR.UTF-8`, TMPDIR })
    const [, dataDir = ''] = await program.waitForOutput(head)
    assert.ok(dataDir.startsWith(TMPDIR) && existsSync(dataDir), dataDir)
    await program.waitForOutput(/openapi\.json\n/)
    const proposed = /^ {2}(?:curl .*|http\S+)$/gm
    const prose = program.printed.out.replace(proposed, '').replace(dataDir, '')
    const english = /\b(the|and|are|is|in|this|by|documents?|history|complete)\b/i
    if (language === 'es') assert.doesNotMatch(prose, english)
    else assert.match(prose, english)
    program.child.kill('SIGTERM')
    assert.equal(await program.waitForExit(), 0)
    assert.ok(!existsSync(dataDir), 'it is gone afterwards')
  })
}
