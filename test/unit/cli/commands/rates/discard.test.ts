// `rates discard` removes stored values of the future, after a confirmation.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { run } from '../../../../../src/main.ts'
import { addDays, currentDay } from '../../../../../src/values/dates.ts'
import { storeAsOtherProcess } from '../../../../api/support.ts'
import { startTestApp, type TestApp } from '../../../../support/app.ts'
import { TEST_PROVIDERS } from '../../../../support/providers.ts'
import { ofSqlite, temporaryDirectory, temporaryEngine } from '../../../../support/temporary.ts'
import { runCommand, until } from '../../../../support/terminal.ts'

const daysFromToday = (days: number) =>
  addDays(
    currentDay(() => new Date()),
    days,
  )
/** Day of the future, also after the next midnight. */
const LATER = daysFromToday(2)
const FAR_DAY = '2901-01-01'

async function openAppWithFutureValues(t: TestContext): Promise<TestApp> {
  const app = await startTestApp(t)
  await app.sync()
  await storeAsOtherProcess(app, { series: 1, day: FAR_DAY, value: '1.5' })
  await storeAsOtherProcess(app, { series: 2, day: addDays(FAR_DAY, 1), value: '2.5' })
  await until(async () => (await readFutureValues(app)).length === 1)
  return app
}

const discard = (dataDir: string, ...words: string[]) =>
  runCommand(['rates', 'discard', '--data-dir', dataDir, ...words])

async function readFutureValues({ json }: TestApp): Promise<string[]> {
  const { points } = await json<{ points: { value: string }[] }>(
    '/api/v1/series/1/history?from=2800-01-01&to=2999-12-31',
  )
  return points.map(({ value }) => value)
}

test('`rates discard` removes values and covered days of the future, also in a running server', async (t) => {
  const app = await openAppWithFutureValues(t)
  const end = await discard(app.dataDir, '--after', LATER, '--yes')
  assert.equal(end.code, 0, end.err)
  assert.equal(
    end.out,
    `removed 2 values and the covered days of 2 series after ${LATER}, up to ${addDays(FAR_DAY, 1)}\n`,
  )
  assert.match(end.err, /rates discarded/)
  await until(async () => (await readFutureValues(app)).length === 0)
  const at = ['--data-dir', app.dataDir]
  const listed = await runCommand(['revision', 'list', '--discarded', ...at, '--json'])
  const revisions = JSON.parse(listed.out) as Record<string, unknown>[]
  assert.deepEqual(
    revisions.map(({ series_id, rate_date, kind, old_value, new_value, run_id }) => {
      return { series_id, rate_date, kind, old_value, new_value, run_id }
    }),
    [
      {
        series_id: 1,
        rate_date: FAR_DAY,
        kind: 'discarded',
        old_value: '1.5',
        new_value: null,
        run_id: null,
      },
      {
        ...{ series_id: 2, rate_date: addDays(FAR_DAY, 1), kind: 'discarded', old_value: '2.5' },
        ...{ new_value: null, run_id: null },
      },
    ],
  )
  assert.match(
    (await runCommand(['revision', 'list', '--discarded', ...at])).out,
    /2901-01-01 +1\.5 +- +\S+ +-\n/,
  )
  assert.equal((await runCommand(['revision', 'list', ...at, '--json'])).out, '[]\n')
  const both = await runCommand(['revision', 'list', '--discarded', '--refined', ...at])
  assert.deepEqual([both.code, both.out], [2, ''])

  const again = await discard(app.dataDir, '--after', LATER, '--yes', '--json')
  assert.deepEqual(
    [again.code, JSON.parse(again.out)],
    [0, { after: LATER, values: 0, series: 0, last_day: null, discarded: false }],
  )
})

test('`rates discard --after DATE` does not remove values on DATE or before', async (t) => {
  const app = await openAppWithFutureValues(t)
  assert.equal((await discard(app.dataDir, '--after', FAR_DAY, '--yes')).code, 0)
  assert.deepEqual(await readFutureValues(app), ['1.5'])
})

test('`rates discard` without a DATE from tomorrow, or without --yes or a terminal, is wrong usage', async (t) => {
  const app = await openAppWithFutureValues(t)
  const cases: [words: string[], text: RegExp][] = [
    [
      ['--after', daysFromToday(0), '--yes'],
      new RegExp(`--after must be tomorrow, ${daysFromToday(1)}, or a later day`),
    ],
    [['--after', '2026-02-30', '--yes'], /--after must be/],
    [['--yes'], /--after is missing/],
    [['--after', LATER], /there is no terminal to confirm at: give --yes/],
  ]
  for (const [words, text] of cases) {
    const end = await discard(app.dataDir, ...words)
    assert.equal(end.code, 2, end.err)
    assert.match(end.err, text)
  }
  await until(async () => (await readFutureValues(app)).length === 1)
})

test('`rates discard` on a terminal requires a yes', ofSqlite, async (t) => {
  const app = await openAppWithFutureValues(t)
  const answer = async (text: string | undefined) => {
    const input = Object.assign(new PassThrough(), { isTTY: true })
    const printed = { out: '', err: '' }
    const stop = new AbortController()
    const words = ['rates', 'discard', '--after', LATER, '--data-dir', app.dataDir, '--json']
    const code = run(words, {
      env: {},
      out: (some) => {
        printed.out += some
      },
      err: (some) => {
        printed.err += some
        if (!some.includes('[y/N]')) return
        if (text === undefined) stop.abort()
        else input.end(text)
      },
      input: () => input,
      providers: TEST_PROVIDERS,
      interactive: true,
      stop: stop.signal,
    })
    return { code: await code, ...printed }
  }
  for (const no of ['n\n', '\n', '', 'yesterday\n']) {
    const end = await answer(no)
    assert.deepEqual([end.code, JSON.parse(end.out).discarded], [1, false], no)
    assert.match(end.err, /Remove 2 values and the covered days of 2 series after .* \[y\/N\] /)
  }
  const stopped = await answer(undefined)
  assert.equal(stopped.code, 1)
  assert.match(stopped.err, /stopped before the answer: nothing was changed/)
  assert.deepEqual(await readFutureValues(app), ['1.5'])
  const yes = await answer('sí\n')
  assert.deepEqual([yes.code, JSON.parse(yes.out).values], [0, 2])
  await until(async () => (await readFutureValues(app)).length === 0)
})

test('`rates discard` is refused during a sync', async (t) => {
  const app = await openAppWithFutureValues(t)
  const engine = await temporaryEngine(t, app.dataDir)
  const lock = await engine.takeLock('sync')
  assert.ok(lock)
  const end = await discard(app.dataDir, '--after', LATER, '--yes')
  assert.equal(end.code, 1)
  assert.match(end.err, /a sync is already running/)
  await lock.release()
  assert.equal((await discard(app.dataDir, '--after', LATER, '--yes')).code, 0)
})

test('`rates discard` fails without a data directory', ofSqlite, async (t) => {
  const end = await discard(`${temporaryDirectory(t)}/none`, '--after', LATER, '--yes')
  assert.equal(end.code, 1)
})
