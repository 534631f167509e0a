// A bank without latency: the public API of the fake bank. Its answers are made once and stored in a folder; later
// requests get the stored bytes. A file `hold` in the folder delays all answers. Run by others: node replay-bank.ts
// FOLDER; prints its URL.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startBank } from '../../src/demo/bank.ts'
import { publicAnswer } from '../../src/demo/bank-public.ts'
import { createBooks } from '../../src/demo/books.ts'
import { inventedValue } from '../../src/demo/invented-rates.ts'
import type { BankReply } from '../../src/demo/reply.ts'
import { addDays, currentDay, type IsoDate } from '../../src/values/dates.ts'

const HOLD_MS = 20

const [folder = ''] = process.argv.slice(2)
const options = {
  token: 'bench',
  today: () => currentDay(() => new Date()),
  value: (code: string, day: IsoDate) => inventedValue(code, day) ?? inventedValue(code, addDays(day, -2)),
}
const books = createBooks(options)
const replies = new Map<string, BankReply>()

const bank = await startBank({
  ...options,
  async faults({ path, query }) {
    while (existsSync(join(folder, 'hold'))) await wait(HOLD_MS)
    const request = `${path} ${JSON.stringify(query)}`
    const storedReply = replies.get(request)
    if (storedReply) return storedReply
    const [, place = ''] = path.split('/SDDE/api/')
    const reply = publicAnswer(books, options, place, query, { authorization: 'Bearer bench' })
    if (reply?.status !== 200) throw new Error(`the bank was asked for ${request}`)
    writeFileSync(join(folder, `${replies.size}.json`), reply.body ?? '')
    replies.set(request, reply)
    return reply
  },
})
process.stdout.write(`${bank.url}\n`)
