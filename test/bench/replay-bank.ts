// A bank without latency: the stand-in bank's public API whose answers are made once, kept in a folder, and from then
// on given as bytes that are there. As long as there is a file `hold` in the folder it does not answer. Run by others:
// node replay-bank.ts FOLDER; prints its URL.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { addDays, type IsoDate, todayIn } from '../../src/dates.ts'
import { startBank } from '../../src/demo/bank.ts'
import { publicAnswer } from '../../src/demo/bank-public.ts'
import { createBooks } from '../../src/demo/books.ts'
import { inventedValue } from '../../src/demo/invented-rates.ts'
import type { BankReply } from '../../src/demo/reply.ts'

const HOLD_MS = 20

const [folder = ''] = process.argv.slice(2)
const options = {
  token: 'bench',
  today: () => todayIn(() => new Date()),
  value: (code: string, day: IsoDate) => inventedValue(code, day) ?? inventedValue(code, addDays(day, -2)),
}
const books = createBooks(options)
const made = new Map<string, BankReply>()

const bank = await startBank({
  ...options,
  async faults({ path, query }) {
    while (existsSync(join(folder, 'hold'))) await wait(HOLD_MS)
    const asked = `${path} ${JSON.stringify(query)}`
    const known = made.get(asked)
    if (known) return known
    const [, place = ''] = path.split('/SDDE/api/')
    const reply = publicAnswer(books, options, place, query, { authorization: 'Bearer bench' })
    if (reply?.status !== 200) throw new Error(`the bank was asked for ${asked}`)
    writeFileSync(join(folder, `${made.size}.json`), reply.body ?? '')
    made.set(asked, reply)
    return reply
  },
})
process.stdout.write(`${bank.url}\n`)
