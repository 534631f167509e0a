// A test app with the four optional sources, which answer their captured values.

import type { TestContext } from 'node:test'
import { banguat } from '../../../src/providers/banguat/banguat.ts'
import { banxico } from '../../../src/providers/banxico/banxico.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { ecb } from '../../../src/providers/ecb/ecb.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { trm } from '../../../src/providers/trm/trm.ts'
import type { Interval } from '../../../src/values/intervals.ts'
import { startTestApp, type TestAppOptions } from '../app.ts'
import { fixedClock } from '../temporary.ts'
import { startBanguat } from './banguat.ts'
import { BANXICO_TOKEN, startBanxico } from './banxico.ts'
import { startEcb } from './ecb.ts'
import { startTrm } from './trm.ts'

/** Optional providers in the order of their ids. */
export const FOUR: readonly Provider[] = [ecb, banguat, trm, banxico]

/** Evening of 20 March: each captured day of the Banco de Guatemala is published. */
export const EVENING = '2026-03-20T23:00:00Z'

/** Starts the sources and a server that knows them; none is enabled. */
export async function startFour(
  t: TestContext,
  options: TestAppOptions & { ecbRows?: readonly string[] } = {},
) {
  const clock = options.clock ?? fixedClock(EVENING)
  const sources = {
    ecb: await startEcb(t, clock.read, options.ecbRows),
    banguat: await startBanguat(t, clock.read),
    trm: await startTrm(t, clock.read),
    banxico: await startBanxico(t, clock.read),
  }
  const settings = (code: keyof typeof sources) => () => ({
    url: sources[code].url,
    token: code === 'banxico' ? BANXICO_TOKEN : undefined,
  })
  const app = await startTestApp(t, {
    backfillFrom: '2026-03-01',
    providers: [bccr, ...FOUR],
    sources: Object.fromEntries(FOUR.map(({ code }) => [code, settings(code as keyof typeof sources)])),
    ...options,
    clock,
  })
  /** Syncs each enabled provider: `id status message`. */
  const syncAll = async (range?: Interval) => {
    const ends = await app.app.sync({ trigger: 'cli', range, signal: new AbortController().signal })
    return ends.map(({ run }) => `${run.provider_id} ${run.status} ${run.message ?? ''}`.trimEnd())
  }
  return { ...app, sources, syncAll }
}
