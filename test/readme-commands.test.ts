// Runs the commands of README's shell blocks, in their order, with temporary folders and the fake bank. Other tests run
// the commands for npm, systemd or root, and those that download a release.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startBank } from '../src/demo/bank.ts'
import { currentDay } from '../src/values/dates.ts'
import { temporaryDirectory } from './support/temporary.ts'
import { runCommand, startCommand, until } from './support/terminal.ts'

const run = promisify(execFile)
const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')

test('README commands run in their order', async (t) => {
  const home = temporaryDirectory(t)
  const dataDir = join(home, 'data')
  let port = '0' // the server chooses one, which no other program can take before
  const today = currentDay(() => new Date())
  const bank = await startBank({ today: () => today })
  t.after(() => bank.close())
  const env = {
    CAMBISTA_PORT: port,
    CAMBISTA_BCCR_URL: bank.url,
    CAMBISTA_BCCR_PACE: '0',
    CAMBISTA_BACKFILL_FROM: `${Number(today.slice(0, 4)) - 1}-12-01`,
    CAMBISTA_DATA_DIR: dataDir, // for commands without --data-dir
  }
  const lines = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.split('\n'))
  const commands = lines
    .filter((line) => /^((\.\/)?cambista|curl) /.test(line) && !line.includes('$RELEASE'))
    .map((line) => line.replace(/\s+#.*$/, ''))
  assert.ok(commands.length >= 13, 'README lost its commands')

  let key = ''
  let serveCommand: ReturnType<typeof startCommand> | undefined
  const stop = async () => {
    serveCommand?.stop()
    await serveCommand?.ended
  }
  t.after(stop)
  for (const command of commands) {
    const line = command.replaceAll('8080', port)
    if (line.startsWith('curl ')) {
      const { stdout } = await run('bash', ['-c', line.replace('curl -s', 'curl -sf')], {
        env: { PATH: process.env.PATH, KEY: key },
      })
      assert.equal(typeof JSON.parse(stdout), 'object', line)
      continue
    }
    const isRestore = line.includes('backup restore')
    if (isRestore) await stop() // a restore needs a stopped server and an empty directory
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)]
      .map(([, quoted, plain]) => quoted ?? plain ?? '')
      .map((word) => word.replace('/var/lib/cambista', isRestore ? join(home, 'restored') : dataDir))
      .map((word) => word.replace('/mnt/backup/cambista', join(home, 'backups')))
      .slice(1)
    if (words[0] === 'serve') {
      serveCommand = startCommand(words, env)
      const findPort = () => /listening url=http:\/\/\S+:(\d+)/.exec(serveCommand?.printed.err ?? '')?.[1]
      await until(() => findPort() !== undefined)
      port = findPort() ?? port
      env.CAMBISTA_PORT = port
      await until(async () => serveCommand?.printed.err.includes('sync finished') === true)
      continue
    }
    const end = await runCommand(words, env)
    assert.equal(end.code, 0, `${line}: ${end.out}${end.err}`)
    if (line.includes('key create')) {
      key = end.out.trim()
      const headers = { 'x-api-key': key }
      await until(
        async () => (await fetch(`http://127.0.0.1:${port}/api/v1/series`, { headers })).status === 200,
      )
    }
  }
})
