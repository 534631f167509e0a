// npm run bench: one table of our figures beside a stated limit, all in this run, on this machine.

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { todayIn } from '../../src/dates.ts'
import { startBank } from '../../src/demo/bank.ts'
import { runCommand, until } from '../support/terminal.ts'
import { measureReads, startProcess } from './reads.ts'

const dir = mkdtempSync(join(tmpdir(), 'cambista-bench-'))
const dataDir = join(dir, 'data')
const print = (text: string) => process.stdout.write(`${text}\n`)

const bank = await startBank({ token: 'bench', today: () => todayIn(() => new Date()) })
const at = ['--data-dir', dataDir]
const synced = await runCommand(['sync', ...at, '--bccr-url', bank.url, '--bccr-pace', '0'], {
  CAMBISTA_BCCR_TOKEN: 'bench',
})
if (synced.code !== 0) throw new Error(synced.out + synced.err)
await bank.close()
const key = (await runCommand(['key', 'create', 'bench', ...at])).out.trim()

const port = await freePort()
const server = await startProcess([
  join(import.meta.dirname, '../../bin/cambista.ts'),
  ...['serve', '--port', String(port), '--no-scheduler', '--log-level', 'warn', ...at],
])
const url = `http://127.0.0.1:${port}`
await until(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true)
print(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`)
print('')
print('| Work | ours | limit | ratio | at least | aim |')
print('|---|---|---|---|---|---|')
for (const figure of await measureReads(url, key)) {
  const { name, ours, bare, ratio, least, aim } = figure
  print(
    `| ${name} | ${Math.round(ours)}/s | ${Math.round(bare)}/s | ${ratio.toFixed(2)} | ${least} | ${aim} |`,
  )
}
server.child.kill()
rmSync(dir, { recursive: true })

async function freePort(): Promise<number> {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  taken.close()
  return port
}
