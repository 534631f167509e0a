// Harms of a source through whole runs: values times 10, 100 and 1,000. No stored value differs from the true one, and no
// day is covered whose value is withheld.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Provider } from '../../src/providers/provider.ts'
import { createLog } from '../../src/runtime/log.ts'
import { selectCoverage } from '../../src/store/rates/coverage.ts'
import { selectRatesOfSeries } from '../../src/store/rates/rates.ts'
import { selectSeries } from '../../src/store/rates/series.ts'
import { enableProvider } from '../../src/sync/catalogue.ts'
import { type SyncDeps, syncAll } from '../../src/sync/run.ts'
import { addDays, type IsoDate } from '../../src/values/dates.ts'
import { product } from '../../src/values/decimal.ts'
import { intersects } from '../../src/values/intervals.ts'
import { fixedClock, temporaryEngine } from '../support/temporary.ts'
import { startFaultySource } from './faulty-source.ts'
import type { ProviderSample } from './provider.ts'

const FACTORS = ['10', '100', '1000']
const same = (day: IsoDate) => day

export function testScaledValues(name: string, sample: ProviderSample): void {
  const { rewrite, valid } = sample
  const scaled = (factor: string) => rewrite({ value: (value) => product(value, factor), day: same })
  const oneScaled = (factor: string, place: number) => {
    let at = 0
    return rewrite({ value: (value) => (at++ === place ? product(value, factor) : value), day: same })
  }
  const dayCount = new Set(valid.values.map(([, day]) => day)).size

  test(`${name}: values times 10, 100 and 1,000 change no stored one`, async (t) => {
    const { run, readWrong, readStored } = await open(t, sample)
    await run(valid.body)
    const values = await readStored()
    assert.equal(values.size, valid.values.length)
    for (const factor of FACTORS) {
      for (const body of [scaled(factor), oneScaled(factor, 0), oneScaled(factor, dayCount - 1)]) {
        await run(body)
        assert.deepEqual(await readStored(), values, factor)
        assert.deepEqual(await readWrong(), [], factor)
      }
    }
    await run(valid.body)
    assert.deepEqual([await readStored(), await readWrong()], [values, []])
  })

  // Two values alone do not show the wrong one.
  if (dayCount > 2) {
    test(`${name}: a first value times 10, 100 and 1,000 is neither stored nor covered beside true ones`, async (t) => {
      for (const factor of FACTORS) {
        const { run, readWrong } = await open(t, sample)
        await run(oneScaled(factor, Math.ceil(valid.values.length / 4)))
        assert.deepEqual(await readWrong(), [], factor)
      }
    })
  }

  if (valid.values.every(([code]) => plausibleRange(sample.provider, code))) {
    test(`${name}: first values times 10, 100 and 1,000 are neither stored nor covered`, async (t) => {
      for (const factor of FACTORS) {
        const { run, readWrong } = await open(t, sample)
        await run(scaled(factor))
        assert.deepEqual(await readWrong(), [], factor)
        await run(valid.body)
        assert.deepEqual(await readWrong(), [], factor)
      }
    })
  }
}

function plausibleRange({ catalogue }: Provider, code: string) {
  return catalogue.find(({ externalCode }) => externalCode === code)?.plausibleRange
}

/** An empty database with the series of the sample, on the evening after its window. */
async function open(t: TestContext, { provider, token, valid, signOn }: ProviderSample) {
  const { table, indicator, window } = valid.ask
  const clock = fixedClock(`${addDays(window.to, 1)}T18:00:00Z`)
  const headers = { Date: clock.now.toUTCString() }
  const source = await startFaultySource(t, { headers, body: '' }, signOn)
  const narrow: Provider = {
    ...provider,
    catalogue: provider.catalogue.filter(
      (one) => one.table === table && (indicator ?? one.externalCode) === one.externalCode,
    ),
    groups: provider.groups.flatMap((one) =>
      one.table === table ? { ...one, indicators: indicator === undefined ? undefined : [indicator] } : [],
    ),
    connect: (settings, signal) => provider.connect(settings, signal, { sleep: async () => undefined }),
  }
  const { db, takeLock, findHolder } = await temporaryEngine(t)
  await enableProvider(db, narrow, clock.read)
  const deps: SyncDeps = {
    ...{ db, clock: clock.read, takeLock, findHolder, backfillFrom: window.from },
    log: createLog({ level: 'error', format: 'json', write: () => undefined, now: clock.read }),
    settings: () => ({ url: source.url, token, paceMs: 0, userAgent: 'cambista/test' }),
    onCommit: async () => {},
  }
  const truth = new Map(valid.values.map(([code, day, value]) => [`${code} ${day}`, value]))
  const readStored = async () => {
    const values = new Map<string, string>()
    for (const { id, external_code: code } of await selectSeries(db)) {
      for (const { rate_date, value } of await selectRatesOfSeries(db, id))
        values.set(`${code} ${rate_date}`, value)
    }
    return values
  }
  return {
    readStored,
    /** Reads the window from a source that answers this body. */
    async run(body: string) {
      source.manner = { headers, body }
      const signal = new AbortController().signal
      await syncAll(deps, [narrow], { trigger: 'cli', range: window, signal })
    },
    /** Returns stored values that are not true, and covered days of the truth without a value. */
    async readWrong() {
      const values = await readStored()
      const coverage = await selectCoverage(db)
      const wrong = [...values]
        .filter(([key, value]) => truth.get(key) !== value)
        .map(([key]) => `stored ${key}`)
      for (const { id, external_code: code } of await selectSeries(db)) {
        for (const key of truth.keys()) {
          const [keyCode, day = ''] = key.split(' ')
          const isCovered = coverage.get(id)?.some((one) => intersects(one, { from: day, to: day }))
          if (keyCode === code && isCovered && !values.has(key)) wrong.push(`covered ${key}`)
        }
      }
      return wrong
    },
  }
}
