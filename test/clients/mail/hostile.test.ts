// Hostile mails through a whole server: no request waits for one of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { updateMailbox } from '../../../src/store/mail/mailboxes.ts'
import { figure, LONG } from '../../faults/scale.ts'
import { createMail } from '../../support/documents/mails.ts'
import { startDovecot } from '../../support/mail/dovecot.ts'
import { HOSTILE_MAILS } from '../../support/mail/hostile-mails.ts'
import { startMailApp } from '../../support/mail/mail-app.ts'
import { openMailWorld, startRound, untilRoundEnds } from '../../support/mail/mail-program.ts'
import { readMemory } from '../../support/resources.ts'
import { measurePauses } from '../../support/stalls.ts'
import { until } from '../../support/terminal.ts'

const NAMES = LONG ? /./ : /^100,000|depth|headers$|zip|25 MB/
/** Processor time of the longest pause, in milliseconds. 25 MB take 25, and 40 MB take 50. */
const LONGEST_PAUSE = 100
/** An idle server collects its garbage after 10 to 20 seconds, and ends the thread of mails after 10. */
const SETTLED_MS = 25_000
const RETURNED_MS = 180_000 // a busy machine has no idle interval
/** Fragments of large blocks and compiled code remain: 29 to 33 MB. */
const RETAINED = 48 * 2 ** 20
const NOTE = { disposition: 'attachment; filename=a.txt', type: 'text/plain', content: 'a' }

test('hostile mails pause no request, and become documents or refusals', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot, { largest: 100 * 2 ** 20 })
  await dovecot.deliver(createMail([NOTE], { 'Message-ID': '<0@a>' }))
  await app.runRound() // loads the client of IMAP
  const counts = { taken: 1, refused: 0 }
  for (const [name, { create, expected }] of Object.entries(HOSTILE_MAILS)) {
    if (!NAMES.test(name)) continue
    await dovecot.deliver(Buffer.from((await create()) as string))
    counts[typeof expected === 'string' ? 'refused' : 'taken'] += 1
    const stopProbe = startProbe(`${app.app.url}/healthz`)
    const readPause = measurePauses()
    const { failure, taken, refused } = await app.runRound()
    const pause = readPause()
    figure(t, name, `pause ${pause.toFixed(0)} ms, longest answer ${(await stopProbe()).toFixed(0)} ms`)
    assert.deepEqual([failure, taken, refused], [null, counts.taken, counts.refused], name)
    assert.ok(pause < LONGEST_PAUSE, `${name}: ${pause} ms`)
  }
  assert.deepEqual(
    [dovecot.count(), dovecot.count('Procesados'), dovecot.count('Rechazados')],
    [0, counts.taken, counts.refused],
  )
})

test('memory returns after hostile mails', async (t) => {
  const dovecot = await startDovecot(t)
  const world = await openMailWorld(t, dovecot, { largest: 100 * 2 ** 20 })
  const mail = createMail([NOTE], { 'Message-ID': '<0@a>' })
  await dovecot.deliver(mail)
  const { child } = await startRound(t, world)
  await untilRoundEnds(world)
  const { pid = 0 } = child
  await wait(SETTLED_MS)
  const before = readMemory(pid)
  for (const [name, { create }] of Object.entries(HOSTILE_MAILS)) {
    if (NAMES.test(name)) await dovecot.deliver(Buffer.from((await create()) as string))
  }
  await updateMailbox(world.db, world.id, { next_round_at: null, last_round_at: null })
  await untilRoundEnds(world)
  assert.equal(dovecot.count(), 0)
  const most = readMemory(pid, 'VmHWM')
  assert.ok(most > before + RETAINED)
  await until(() => readMemory(pid) < before + RETAINED, RETURNED_MS)
  const megabytes = [before, most, readMemory(pid)].map((bytes) => Math.round(bytes / 2 ** 20))
  figure(t, 'memory before, at most, and after, in MB', megabytes.join(' '))
})

/** Requests a URL every few milliseconds. The returned function stops, and returns the milliseconds of the longest answer. */
function startProbe(url: string): () => Promise<number> {
  const stop = new AbortController()
  let longest = 0
  const probe = async () => {
    while (!stop.signal.aborted) {
      const start = performance.now()
      await (await fetch(url)).text()
      longest = Math.max(longest, performance.now() - start)
      await wait(5)
    }
    return longest
  }
  const end = probe()
  return () => {
    stop.abort()
    return end
  }
}
