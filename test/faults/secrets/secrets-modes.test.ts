// Every file and directory that the program creates is for its user alone, under any umask.

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { CREATE, pdf } from '../../support/directory.ts'
import { emptyOlderSchema } from '../../support/older-schema.ts'
import { startProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { figure, LONG, PROGRAM } from '../scale.ts'

for (const umask of LONG ? ['000', '077', '777'] : ['000']) {
  test(`under umask ${umask} every created file is for its user alone`, async (t) => {
    const home = temporaryDirectory(t)
    const temporary = join(home, 'tmp')
    mkdirSync(temporary, { mode: 0o700 })
    const dataDir = join(home, 'deep', 'data')
    const at = ['--data-dir', dataDir]
    const start = (...words: string[]) =>
      startProgram(t, words, { TMPDIR: temporary }, [
        '/bin/sh',
        '-c',
        `umask ${umask}; exec "$@"`,
        'sh',
        ...PROGRAM,
      ])
    const run = async (...words: string[]) => {
      const program = start(...words)
      assert.equal(await program.waitForExit(), 0, `${words.join(' ')}: ${program.printed.err}`)
      return program.printed.out.trim()
    }
    await run('company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '1', ...at)
    await run('owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1', ...at)
    await run('agent', 'create', '--name', 'Lector', '--company', '1', '--id', '1', ...at)
    const token = await run('token', 'create', 'erp', '--allow', 'documents:POST', ...at)
    const program = start('serve', '--port', '0', '--no-scheduler', '--min-free', '0', ...at)
    const url = (await program.waitForOutput(/ listening url=(\S+)/))[1] ?? ''
    const headers = { authorization: `Bearer ${token}` }
    const body = JSON.stringify({ owner_id: 1, company_id: 1, agent_id: 1, documents: [pdf()] })
    assert.equal((await fetch(url + CREATE, { method: 'POST', headers, body })).status, 200)

    const slow = request(url + CREATE, { method: 'POST', headers })
    slow.on('error', () => {})
    slow.write(`{"documents":[{"base64":"${'AAAA'.repeat(50_000)}`)
    const staged = () => readdirSync(join(dataDir, 'blobs', 'tmp'))
    await until(() => staged().length > 0)
    const checkedPaths = new Set<string>()
    checkModes(home, checkedPaths)
    slow.destroy()
    await until(() => staged().length === 0)

    const backups = join(home, 'sets', 'backups')
    mkdirSync(join(home, 'sets'), { mode: 0o700 })
    await run('backup', 'create', backups, ...at)
    await run('document', 'export', '1', '--out', join(home, 'factura.pdf'), ...at)
    await run('backup', 'restore', backups, '--data-dir', join(home, 'restored'))
    const upgraded = join(home, 'upgraded')
    makeOlder(upgraded)
    await run('key', 'list', '--data-dir', upgraded)
    const bank = createServer((_, response) => response.writeHead(404).end())
    await new Promise<void>((resolve) => bank.listen(0, '127.0.0.1', resolve))
    t.after(() => bank.close())
    const from = `http://127.0.0.1:${(bank.address() as AddressInfo).port}`
    const sync = start('sync', '--data-dir', join(home, 'fresh'), '--bccr-url', from, '--bccr-pace', '0')
    assert.equal(await sync.waitForExit(), 1)
    checkModes(home, checkedPaths)
    program.child.kill('SIGTERM')
    assert.equal(await program.waitForExit(), 0, program.printed.err)
    checkModes(home, checkedPaths)

    const names = [...checkedPaths].map((path) => basename(path))
    for (const expected of [
      /^cambista\.db$/,
      /^cambista\.db-wal$/,
      /^cambista\.db-shm$/,
      /^serve\.lock$/,
      /^sync\.lock$/,
      /^blobs$/,
      /^tmp$/,
      /^[0-9a-f]{64}$/,
      /^cambista\.db\.v12-.*\.bak$/,
      /^manifest\.json$/,
      /^README\.txt$/,
      /^factura\.pdf$/,
      /^restored$/,
    ]) {
      assert.ok(
        names.some((name) => expected.test(name)),
        `${expected} is not among ${names.join(' ')}`,
      )
    }
    assert.deepEqual(readdirSync(temporary), [])
    figure(t, 'files and directories', checkedPaths.size)
  })
}

/** Checks that every file and directory below is for its user alone, and adds its path to the checked ones. */
function checkModes(dir: string, checkedPaths: Set<string>): void {
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    const path = join(dir, name)
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) continue
    checkedPaths.add(path)
    assert.equal((stats.mode & 0o7777).toString(8), stats.isDirectory() ? '700' : '600', path)
    assert.equal(stats.uid, process.getuid?.(), path)
  }
}

/** Creates a data directory with an older schema, of which the program makes a copy. */
function makeOlder(dataDir: string): void {
  const before = process.umask(0o077)
  mkdirSync(dataDir)
  emptyOlderSchema(dataDir).close()
  process.umask(before)
}
