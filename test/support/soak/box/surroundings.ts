// Other programs of one box: the bank, four more sources, a mail server and a receiver of hooks. Directory, key,
// sources, indicators, hook and mailbox of the box are made by its commands.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Bank, startBank } from '../../../../src/demo/bank.ts'
import { HOOK_EVENTS } from '../../../../src/domain/hooks/queued-events.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { currentDay } from '../../../../src/values/dates.ts'
import { fillDatabase } from '../../directory.ts'
import { type Receiver, startReceiver } from '../../hooks/receiver.ts'
import { type Dovecot, PASSWORD, startDovecot, USER } from '../../mail/dovecot.ts'
import { startBanguat } from '../../sources/banguat.ts'
import { BANXICO_TOKEN, startBanxico } from '../../sources/banxico.ts'
import { startEcb } from '../../sources/ecb.ts'
import { startTrm } from '../../sources/trm.ts'
import { openTestDatabase } from '../../temporary.ts'
import { type Bookkeeping, bankValue, STALE_FOR_MS } from '../rates.ts'
import { type Box, openBox } from './box.ts'
import { INDICATORS, indicatorValue } from './indicators.ts'

export type Surroundings = {
  box: Box
  /** Connection of the test to the database of the box. */
  db: WriteDb
  bank: Bank
  receiver: Receiver
  /** Signs the messages of the hook. */
  hookSecret: string
  dovecot: Dovecot
  /** Key of the rates API. */
  key: string
  /** Flags of the server. */
  flags: readonly string[]
}

/** First day of the history: the captured values of the other sources are of March. */
export const HISTORY_FROM = '2026-03-01'
const BANK_TOKEN = 'test-token'
const EACH_MINUTE = '* * * * *'
const SOURCES = ['ecb', 'banguat', 'trm', 'banxico']

export async function openSurroundings(t: TestContext, books: Bookkeeping): Promise<Surroundings> {
  const now = () => new Date()
  const today = () => currentDay(now)
  const isIndicator = (code: string) => INDICATORS.some((one) => one.code === code)
  const bank = await startBank({
    ...{ token: BANK_TOKEN, today, indicators: INDICATORS },
    value: (code, day) =>
      isIndicator(code) && day <= today() ? indicatorValue(code, day) : bankValue(books, code, day),
  })
  t.after(() => bank.close())
  const [ecb, banguat, trm, banxico] = [
    await startEcb(t, now),
    await startBanguat(t, now),
    await startTrm(t, now),
    await startBanxico(t, now),
  ]
  const dovecot = await startDovecot(t)
  const receiver = await startReceiver(t)
  const box = openBox(t, {
    ...{ CAMBISTA_BCCR_URL: bank.url, CAMBISTA_BCCR_PACE: '0', CAMBISTA_BCCR_TOKEN: BANK_TOKEN },
    ...{ CAMBISTA_ECB_URL: ecb.url, CAMBISTA_BANGUAT_URL: banguat.url, CAMBISTA_TRM_URL: trm.url },
    ...{ CAMBISTA_BANXICO_URL: banxico.url, CAMBISTA_BANXICO_TOKEN: BANXICO_TOKEN },
    ...{ CAMBISTA_ECB_PACE: '0', CAMBISTA_BANGUAT_PACE: '0', CAMBISTA_TRM_PACE: '0' },
    ...{ CAMBISTA_BANXICO_PACE: '0', CAMBISTA_BACKFILL_FROM: HISTORY_FROM },
  })
  mkdirSync(box.dataDir)
  await box.prepare('sync')
  await fillDatabase(box.dataDir)
  for (const code of SOURCES) await box.prepare('provider', 'enable', code)
  const codes = INDICATORS.map(({ code }) => code)
  await box.prepare('indicator', 'enable', ...codes, '--from', HISTORY_FROM)
  const { key } = JSON.parse(await box.prepare('key', 'create', 'reader', '--json')) as { key: string }
  const hook = ['hook', 'create', '--url', receiver.url, '--event', HOOK_EVENTS.join(), '--json']
  const { secret: hookSecret } = JSON.parse(await box.prepare(...hook)) as { secret: string }
  const passwordFile = join(box.home, 'password')
  writeFileSync(passwordFile, PASSWORD, { mode: 0o600 })
  const account = ['--host', '127.0.0.1', '--port', String(dovecot.ports.plain), '--security', 'none']
  const place = ['--user', USER, '--password-file', passwordFile, '--agent', '1', '--owner', '1']
  await box.prepare('mailbox', 'create', 'facturas', ...account, ...place)
  const db = openTestDatabase(box.dataDir)
  t.after(() => db.destroy())
  const crons = ['--sync-cron', ...SOURCES.map((code) => `--${code}-cron`)]
  const flags = [
    ...crons.flatMap((cron) => [cron, EACH_MINUTE]),
    ...['--stale-for', `${STALE_FOR_MS / 1000}s`, '--open-rates', '127.0.0.0/8'],
  ]
  return { box, db, bank, receiver, hookSecret, dovecot, key, flags }
}
