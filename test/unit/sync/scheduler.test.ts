import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../src/runtime/errors.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { IN_PROGRESS, type LastRun } from '../../../src/store/rates/sync-runs.ts'
import { createScheduler, type SchedulerDeps } from '../../../src/sync/scheduler.ts'
import { fixedClock } from '../../support/temporary.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const CRON = '0 5 * * *' // 11:00 UTC
const NOON = '2026-03-24T12:00:00Z'

const DAWN_RUN: LastRun = {
  id: 1,
  provider_id: 1,
  trigger: 'scheduler',
  status: 'ok',
  date_from: null,
  date_to: null,
  inserted: 0,
  updated: 0,
  unchanged: 0,
  message: null,
  started_at: '2026-03-24T11:00:01Z',
  finished_at: '2026-03-24T11:02:00Z',
  token_hash: null,
  token_only: false,
  cause: null,
}
const REFUSED = { status: 'parcial', token_hash: 'a', token_only: true } as const

type Answer = boolean | 'refused' | 'defect' | 'lost' | 'later' | 'interrupted' | Promise<boolean>

/** A scheduler whose runs are noted as `trigger at time`, and answered one after the other. */
function openScheduler(
  t: TestContext,
  options: {
    now?: string
    answers?: Answer[]
    last?: Partial<LastRun> | null
    current?: boolean
    starts?: string[]
    hasRates?: boolean
    enabled?: boolean
    timeZone?: string
    tokenHash?: string | null | undefined
  } = {},
) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const clock = fixedClock(options.now ?? NOON)
  const answers = options.answers ?? []
  const runs: string[] = []
  const logged: string[] = []
  let signal: AbortSignal | undefined
  const run: SchedulerDeps['run'] = async (trigger, stop) => {
    signal = stop
    runs.push(`${trigger} ${clock.read().toISOString().slice(0, 16)}`)
    const answer = answers.shift() ?? true
    if (answer === 'refused') throw new AppError('conflict', 'a sync is already running')
    if (answer === 'defect') throw new TypeError('surprise')
    if (answer === 'lost') throw Object.assign(new Error('write EPIPE'), { code: 'PG_LOST' })
    if (answer === 'later') return { why: 'the sync was parcial', isSoon: false }
    if (answer === 'interrupted') return { why: 'the sync was error', isSoon: true, isInterrupted: true }
    return (await answer) ? undefined : { why: 'the sync was error', isSoon: true }
  }
  const { last, starts = [], hasRates = true, current = true, enabled = true } = options
  const { timeZone = 'America/Costa_Rica' } = options
  const scheduler = createScheduler({
    provider: 'bccr',
    cron: CRON,
    timeZone,
    clock: clock.read,
    log: createLog({ level: 'debug', format: 'json', write: (text) => logged.push(text) }),
    run,
    facts: {
      enabled,
      lastRun: last === null ? undefined : { ...DAWN_RUN, ...last },
      starts: starts.map((at) => new Date(at)),
      hasRates,
      current,
      due: "today's dollar",
      tokenHash: 'tokenHash' in options ? options.tokenHash : 'a',
    },
  })
  t.after(() => scheduler.close())
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    scheduler,
    clock,
    runs,
    logged,
    /** Returns time and reason of the next attempt from the log. */
    nextTries: () =>
      logged
        .flatMap((lines) => lines.trim().split('\n'))
        .map((line) => JSON.parse(line))
        .filter(({ event }) => event === 'next try')
        .map(({ level, at, why }) => `${level} ${at}: ${why}`),
    signal: () => signal,
    /** Lets time pass, in steps. */
    async pass(ms: number, step = Math.min(ms, MINUTE)) {
      for (let passed = 0; passed < ms; passed += step) {
        clock.now = new Date(clock.now.getTime() + step)
        t.mock.timers.tick(1000)
        await settle()
      }
    },
    /** Sets the clock; the scheduler's next look sees it. */
    async setClock(instant: string) {
      clock.now = new Date(instant)
      t.mock.timers.tick(1000)
      await settle()
    },
    settle,
  }
}

test('nothing runs before it is started, nor when nothing is due', async (t) => {
  const { scheduler, pass, runs, signal } = openScheduler(t)
  await pass(HOUR)
  scheduler.start()
  await pass(20 * HOUR)
  assert.deepEqual(runs, [])
  assert.equal(signal(), undefined)
})

test('the scheduled time is reached once a day', async (t) => {
  const { scheduler, pass, runs } = openScheduler(t)
  scheduler.start()
  await pass(3 * DAY)
  assert.deepEqual(runs, [
    'scheduler 2026-03-25T11:00',
    'scheduler 2026-03-26T11:00',
    'scheduler 2026-03-27T11:00',
  ])
})

test('the scheduled time is in Costa Rica, not where the machine is', (t) => {
  const { scheduler } = openScheduler(t)
  assert.equal(scheduler.nextRun()?.toISOString(), '2026-03-25T11:00:00.000Z')
})

test('the scheduled time is that of the zone of the provider, summer and winter', (t) => {
  const inHelsinki = (now: string) => {
    const { scheduler } = openScheduler(t, { now, timeZone: 'Europe/Helsinki' })
    t.mock.timers.reset()
    return scheduler.nextRun()?.toISOString()
  }
  assert.equal(inHelsinki('2026-03-28T02:00:00Z'), '2026-03-28T03:00:00.000Z')
  assert.equal(inHelsinki('2026-03-29T02:30:00Z'), '2026-03-30T02:00:00.000Z')
})

test('a provider that is disabled is not synced at start, whatever became of its last run', async (t) => {
  const { scheduler, pass, runs, nextTries } = openScheduler(t, { enabled: false, last: { status: 'error' } })
  scheduler.start()
  await pass(12 * HOUR)
  assert.deepEqual([runs, nextTries()], [[], ['info 2026-03-25T11:00:00.000Z: the provider is disabled']])
})

// last run, whether the dollar of today is stored, runs at start, runs within the first hour
const AT_ONCE = ['startup 2026-03-24T12:00']
const STARTS: [string, Partial<LastRun> | null, boolean, string[]][] = [
  ['no run was ever made', null, false, AT_ONCE],
  ['the last run was before dawn', { started_at: '2026-03-24T10:59:59Z' }, true, AT_ONCE],
  ['the last run was at dawn', { started_at: '2026-03-24T11:00:00Z' }, true, []],
  ['the last run was made under a clock of 2036', { started_at: '2036-03-24T11:00:00Z' }, true, AT_ONCE],
  ['the last run was stopped', { cause: 'interrupted' }, true, AT_ONCE],
  ['the last run was killed', { status: 'error', cause: 'interrupted' }, true, AT_ONCE],
  ['a run was killed just now', { status: 'error', message: IN_PROGRESS, finished_at: null }, true, AT_ONCE],
  ['the last run was parcial', { status: 'parcial' }, true, AT_ONCE],
  ['the last run was an error', { status: 'error' }, true, AT_ONCE],
  ["today's dollar is not there", {}, false, ['retry 2026-03-24T12:17']], // as if it had gone on since 11:02
  ['all is well', {}, true, []],
]
for (const [what, last, current, expected] of STARTS) {
  test(`at start, when ${what}: ${expected.join() || 'nothing'}`, async (t) => {
    const { scheduler, pass, runs, settle } = openScheduler(t, { last, current })
    scheduler.start()
    await settle()
    await pass(HOUR)
    assert.deepEqual(runs, expected)
  })
}

// facts at start, runs in the first hour, log of the next attempt
const SKIPPED: [string, Parameters<typeof openScheduler>[1], string[], string][] = [
  ['all is well', {}, [], '2026-03-25T11:00:00.000Z: the last sync was ok'],
  [
    'the refused token is the same',
    { last: REFUSED },
    ['retry 2026-03-24T12:17'],
    '2026-03-24T12:17:00.000Z: the token was refused, and is still the same',
  ],
  [
    'the refused token is the same, and the next retry was planned',
    { last: { ...REFUSED, trigger: 'retry', finished_at: '2026-03-24T11:50:00Z' } },
    ['retry 2026-03-24T12:50'],
    '2026-03-24T12:50:00.000Z: the token was refused, and is still the same',
  ],
  [
    "today's dollar is missing, and the run ended under a clock of 2036",
    { current: false, last: { finished_at: '2036-03-24T11:00:00Z' } },
    ['retry 2026-03-24T12:15'],
    "2026-03-24T12:15:00.000Z: today's dollar was not there yet",
  ],
  [
    'three starts have synced within ten minutes',
    { last: null, starts: ['2026-03-24T11:58:00Z', '2026-03-24T11:54:00Z', '2026-03-24T11:50:01Z'] },
    ['startup 2026-03-24T12:01'],
    '2026-03-24T12:00:01.000Z: 3 starts have synced within 10 minutes',
  ],
  [
    'three starts have synced, and the clock was set back since',
    {
      last: { status: 'error' },
      starts: ['2026-03-24T12:05:00Z', '2026-03-24T12:04:00Z', '2026-03-24T12:03:00Z'],
    },
    ['startup 2026-03-24T12:10'],
    '2026-03-24T12:10:00.000Z: 3 starts have synced within 10 minutes',
  ],
]
for (const [what, options, expected, said] of SKIPPED) {
  test(`a start when ${what} syncs later, and logs time and reason`, async (t) => {
    const { scheduler, pass, runs, settle, nextTries } = openScheduler(t, options)
    scheduler.start()
    await settle()
    assert.deepEqual(nextTries(), [`info ${said}`])
    assert.equal(`${scheduler.nextRun()?.toISOString()}`, said.slice(0, 24))
    await pass(HOUR)
    assert.deepEqual(runs, expected)
  })
}

const SYNCED_AT_ONCE: [string, Parameters<typeof openScheduler>[1]][] = [
  ['the token was renewed since it was refused', { last: REFUSED, tokenHash: 'b' }],
  ['the token was taken away since it was refused', { last: REFUSED, tokenHash: null }],
  ['the token was refused, and cannot be read now', { last: REFUSED, tokenHash: undefined }],
  ['the token was refused, and more went wrong', { last: { ...REFUSED, token_only: false } }],
  ['the token was refused before dawn', { last: { ...REFUSED, started_at: '2026-03-24T10:00:00Z' } }],
  ['the last run was ok, but there are no rates', { hasRates: false }],
  [
    'only two starts have synced within ten minutes',
    {
      last: { status: 'error' },
      starts: ['2026-03-24T11:58:00Z', '2026-03-24T11:54:00Z', '2026-03-24T11:50:00Z'],
    },
  ],
]
for (const [what, options] of SYNCED_AT_ONCE) {
  test(`a start syncs at once when ${what}`, async (t) => {
    const { scheduler, settle, runs, nextTries } = openScheduler(t, options)
    scheduler.start()
    await settle()
    assert.deepEqual([runs, nextTries()], [AT_ONCE, []])
  })
}

test('however often it is restarted, a retry is not put off', async (t) => {
  const last = { ...REFUSED, finished_at: '2026-03-24T11:55:00Z' }
  for (const now of ['12:00', '12:05', '12:09']) {
    const { scheduler } = openScheduler(t, { now: `2026-03-24T${now}:00Z`, last })
    scheduler.start()
    assert.equal(scheduler.nextRun()?.toISOString(), '2026-03-24T12:10:00.000Z', now)
    await scheduler.close()
    t.mock.timers.reset()
  }
})

test('`next try` is logged after each failure, and not after a good run', async (t) => {
  const { scheduler, pass, nextTries } = openScheduler(t, { last: null, answers: [false, 'refused', true] })
  scheduler.start()
  await pass(2 * HOUR)
  assert.deepEqual(nextTries(), [
    'info 2026-03-24T12:16:00.000Z: the sync was error',
    'info 2026-03-24T13:16:00.000Z: the sync was refused',
  ])
})

test('`next try` after a failure shortly before dawn is dawn', async (t) => {
  const { scheduler, settle, nextTries } = openScheduler(t, {
    now: '2026-03-24T10:50:00Z',
    last: null,
    answers: [false],
  })
  scheduler.start()
  await settle()
  assert.deepEqual(nextTries(), ['info 2026-03-24T11:00:00.000Z: the sync was error'])
})

test('a program that is stopped plans no next try', async (t) => {
  const gate = Promise.withResolvers<boolean>()
  const { scheduler, settle, nextTries } = openScheduler(t, { last: null, answers: [gate.promise] })
  scheduler.start()
  await settle()
  const closing = scheduler.close()
  gate.resolve(false)
  await closing
  await settle()
  assert.deepEqual(nextTries(), [])
})

for (const bad of [false, 'refused', 'defect'] as const) {
  test(`after a run that ${bad === false ? 'was not ok' : bad === 'refused' ? 'was refused' : 'broke'}, retries after 15 minutes and then hourly until one is ok`, async (t) => {
    const { scheduler, pass, runs, logged } = openScheduler(t, { answers: [bad, bad, bad, true] })
    scheduler.start()
    await pass(DAY + 6 * HOUR)
    assert.deepEqual(runs, [
      'scheduler 2026-03-25T11:00',
      'retry 2026-03-25T11:15',
      'retry 2026-03-25T12:15',
      'retry 2026-03-25T13:15',
    ])
    assert.equal(logged.join('').includes('surprise'), bad === 'defect')
  })
}

test('`sync failed` names the lost database, not the error of the socket alone', async (t) => {
  const { scheduler, pass, logged } = openScheduler(t, { answers: ['lost'] })
  scheduler.start()
  await pass(DAY)
  assert.match(logged.join(''), /"sync failed".*"reason":"the database was lost: write EPIPE"/)
})

test('retries begin anew with the next scheduled run', async (t) => {
  const { scheduler, pass, runs, settle } = openScheduler(t, {
    now: '2026-03-24T10:30:00Z',
    last: { status: 'error', started_at: '2026-03-24T09:00:00Z' },
    answers: [false, false, false],
  })
  scheduler.start()
  await settle()
  await pass(HOUR)
  assert.deepEqual(runs, [
    'startup 2026-03-24T10:30',
    'retry 2026-03-24T10:45',
    'scheduler 2026-03-24T11:00',
    'retry 2026-03-24T11:15',
  ])
})

test('a retry that gave way is repeated after 15 minutes', async (t) => {
  const { scheduler, pass, runs } = openScheduler(t, { answers: [false, 'interrupted', 'interrupted', true] })
  scheduler.start()
  await pass(DAY + 6 * HOUR)
  assert.deepEqual(runs, [
    'scheduler 2026-03-25T11:00',
    'retry 2026-03-25T11:15',
    'retry 2026-03-25T11:30',
    'retry 2026-03-25T11:45',
  ])
})

test('a retry that is not urgent is an hour later', async (t) => {
  const { scheduler, pass, runs } = openScheduler(t, { answers: ['later', 'later', true] })
  scheduler.start()
  await pass(DAY + 6 * HOUR)
  assert.deepEqual(runs, ['scheduler 2026-03-25T11:00', 'retry 2026-03-25T12:00', 'retry 2026-03-25T13:00'])
})

test('`nextRun` is the retry when that comes first', async (t) => {
  const { scheduler, pass } = openScheduler(t, { answers: [false, false] })
  scheduler.start()
  await pass(DAY)
  assert.equal(scheduler.nextRun()?.toISOString().slice(0, 16), '2026-03-25T12:15')
})

test('a machine that slept over dawn runs once when it wakes', async (t) => {
  const { scheduler, setClock, pass, runs } = openScheduler(t)
  scheduler.start()
  await pass(HOUR)
  await setClock('2026-03-28T17:00:00Z')
  await pass(HOUR)
  assert.deepEqual(runs, ['scheduler 2026-03-28T17:00'])
})

test('a clock that is set back a day still runs at the next dawn', async (t) => {
  const { scheduler, setClock, pass, runs } = openScheduler(t)
  scheduler.start()
  await setClock('2026-03-23T10:00:00Z')
  await pass(2 * HOUR)
  assert.deepEqual(runs, ['scheduler 2026-03-23T11:00'])
})

test('a clock that ran ahead ten years and is set right goes on where it is', async (t) => {
  const { scheduler, setClock, pass, runs } = openScheduler(t, { answers: [false, false] })
  scheduler.start()
  await setClock('2036-01-01T00:00:00Z')
  await setClock('2026-03-24T12:01:00Z')
  await pass(DAY)
  assert.deepEqual(runs, [
    'scheduler 2036-01-01T00:00',
    'retry 2026-03-24T12:16',
    'retry 2026-03-24T13:16',
    'scheduler 2026-03-25T11:00',
  ])
})

test('a clock that is nudged back all the time does not put the retry off', async (t) => {
  const { scheduler, pass, clock, runs, settle } = openScheduler(t, {
    last: { status: 'error' },
    answers: [false],
  })
  scheduler.start()
  await settle()
  for (let minute = 0; minute < 20; minute++) {
    await pass(MINUTE)
    clock.now = new Date(clock.now.getTime() - 2000)
    await pass(1)
  }
  assert.deepEqual(runs, ['startup 2026-03-24T12:00', 'retry 2026-03-24T12:15'])
})

test('a scheduled time that comes while a run is under way is not forgotten', async (t) => {
  const gate = Promise.withResolvers<boolean>()
  const { scheduler, pass, runs, settle } = openScheduler(t, { last: null, answers: [gate.promise] })
  scheduler.start()
  await pass(DAY)
  assert.deepEqual(runs, ['startup 2026-03-24T12:00'])
  gate.resolve(true)
  await settle()
  await pass(HOUR)
  assert.deepEqual(runs, ['startup 2026-03-24T12:00', 'scheduler 2026-03-25T12:01'])
})

test('closing stops a run that is under way, and waits for its end', async (t) => {
  const gate = Promise.withResolvers<boolean>()
  const { scheduler, pass, settle, signal, runs } = openScheduler(t, { last: null, answers: [gate.promise] })
  scheduler.start()
  await settle()
  let isClosed = false
  const closing = scheduler.close().then(() => {
    isClosed = true
  })
  await settle()
  assert.deepEqual([signal()?.aborted, isClosed], [true, false])
  gate.resolve(false)
  await closing
  await pass(2 * DAY)
  assert.equal(runs.length, 1)
})
