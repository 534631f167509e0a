import assert from 'node:assert/strict'
import { test } from 'node:test'
import { banxico } from '../../../../../src/providers/banxico/banxico.ts'
import { ecb } from '../../../../../src/providers/ecb/ecb.ts'
import { startTestApp } from '../../../../support/app.ts'
import { TEST_PROVIDERS } from '../../../../support/providers.ts'
import { runCommand, until } from '../../../../support/terminal.ts'

type Listed = { id: number; external_code: string; base_currency: string; enabled: boolean }

test('series and providers are listed, disabled and enabled, also in a running server', async (t) => {
  const { dataDir, json, sync } = await startTestApp(t)
  await sync()
  const at = ['--data-dir', dataDir, '--json']
  const series: Listed[] = JSON.parse((await runCommand(['series', 'list', ...at])).out)
  assert.equal(series.length, 47)
  assert.deepEqual([series[0]?.external_code, series[1]?.external_code], ['317', '318'])
  assert.deepEqual(series, await json('/api/v1/series'))

  const disabled = await runCommand(['series', 'disable', '3', ...at])
  assert.deepEqual([disabled.code, JSON.parse(disabled.out)], [0, { id: 3, enabled: false }])
  const enabledNow = () => json<Listed[]>('/api/v1/series?only_enabled=true')
  await until(async () => (await enabledNow()).length === 46)
  await runCommand(['series', 'enable', '3', ...at])
  await until(async () => (await enabledNow()).length === 47)

  await runCommand(['provider', 'disable', 'bccr', ...at])
  await until(async () => (await json<unknown[]>('/api/v1/providers?only_enabled=1')).length === 0)
  const off = await runCommand(['sync', '--data-dir', dataDir])
  assert.deepEqual([off.code, off.out], [1, ''])
  assert.match(off.err, /no provider is enabled: see cambista provider list/)
  await runCommand(['provider', 'enable', 'bccr', ...at])
  await until(async () => (await json<unknown[]>('/api/v1/providers?only_enabled=1')).length === 1)
  const providers = JSON.parse((await runCommand(['provider', 'list', ...at])).out)
  assert.deepEqual(providers, await json('/api/v1/providers?details=true'))
})

test('`provider enable` names the flag of a required token', async (t) => {
  const { dataDir } = await startTestApp(t)
  const providers = [...TEST_PROVIDERS, banxico, ecb]
  const enable = (code: string) =>
    runCommand(['provider', 'enable', code, '--data-dir', dataDir], {}, providers)
  const required =
    /^banxico requires a token, in the file of --banxico-token-file \(cambista manual sources\)$/m
  assert.match((await enable('banxico')).err, required)
  assert.doesNotMatch((await enable('ecb')).err, /token/)
})

test('the error of an unknown series or provider suggests its list', async (t) => {
  const { dataDir } = await startTestApp(t)
  const series = await runCommand(['series', 'disable', '99', '--data-dir', dataDir])
  assert.deepEqual(
    [series.code, series.err],
    [1, 'cambista: there is no series 99: see cambista series list\n'],
  )
  const provider = await runCommand(['provider', 'enable', 'ecb', '--data-dir', dataDir])
  assert.deepEqual(
    [provider.code, provider.err],
    [1, 'cambista: there is no provider ecb: see cambista provider list\n'],
  )
})

test('`revision list` has the old value, the new value and the run', async (t) => {
  let corrected = false
  const app = await startTestApp(t, {
    bank: {
      value: (code, day) => (corrected && code === '318' && day === '2026-03-20' ? '500.01' : undefined),
    },
  })
  await app.sync()
  const [oldPoint] = (
    await app.json<{ points: { value: string }[] }>('/api/v1/series/2/history?from=2026-03-20&to=2026-03-20')
  ).points
  corrected = true
  const { run } = await app.sync()
  assert.equal(run.updated, 1)
  const list = (...more: string[]) => runCommand(['revision', 'list', '--data-dir', app.dataDir, ...more])
  const [revision, ...others] = JSON.parse((await list('--json')).out)
  assert.deepEqual(others, [])
  assert.deepEqual(revision, {
    id: 1,
    series_id: 2,
    rate_date: '2026-03-20',
    kind: 'correction',
    old_value: oldPoint?.value,
    old_rounded_to: null,
    old_stored_at: revision.old_stored_at,
    new_value: '500.01',
    replaced_at: revision.replaced_at,
    run_id: run.id,
  })
  // Each commit is later than the one before, at the same time of the clock.
  assert.ok(app.clock.now.toISOString() < revision.old_stored_at)
  assert.ok(revision.old_stored_at < revision.replaced_at)
  assert.match((await list()).out, /^2 +2026-03-20 +\S+ +500\.01 /m)
  assert.deepEqual(JSON.parse((await list('--series', '1', '--json')).out), [])
  assert.deepEqual(JSON.parse((await list('--since', '2026-03-25', '--json')).out), [])
  assert.equal(JSON.parse((await list('--since', '2026-03-24', '--json')).out).length, 1)
})
