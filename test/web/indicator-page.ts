// An app with indicators for tests of the page: interest rates, an index by month, an amount, and counters.

import { after, type TestContext } from 'node:test'
import { bccrIndicators } from '../../src/providers/bccr/indicators/indicator-source.ts'
import { dayNumber, type IsoDate } from '../../src/values/dates.ts'
import { startIndicatorApp } from '../support/rates/indicator-app.ts'
import { fillPageApp, NOW, type PageApp, TODAY } from './support.ts'

const ENTITIES = 40
const FROM = '2025-06-01'
/** The newest day of the second entity, which announced nothing since. */
const EARLIER = '2026-11-18'

/** Codes of the first 40 entities with both sides, by entity. */
export const COUNTERS: ReadonlyMap<string, { compra: string; venta: string }> = new Map(
  [...Map.groupBy(bccrIndicators.named(), ({ entity = '' }) => entity)]
    .flatMap(([entity, sides]): [string, { compra: string; venta: string }][] => {
      const code = (side: string) => sides.find((one) => one.side === side)?.code
      const [compra, venta] = [code('compra'), code('venta')]
      return entity !== '' && compra && venta ? [[entity, { compra, venta }]] : []
    })
    .slice(0, ENTITIES),
)
const OTHERS = ['423', '3541', '3323', '3446', '98405', '347', '777']

/** Opens an app whose indicators were read. The code 777 has no value. */
export async function openIndicatorPage(): Promise<PageApp & { codes: readonly string[] }> {
  const codes = [...OTHERS, ...[...COUNTERS.values()].flatMap(({ compra, venta }) => [compra, venta])]
  const names = new Map(bccrIndicators.named().map(({ code, name }) => [code, name]))
  const indicators = codes.map((code) => ({ code, name: names.get(code) ?? `Serie ${code}` }))
  const lasting: Pick<TestContext, 'after'> = { after: (done) => after(done as () => void) }
  const app = await startIndicatorApp(lasting as TestContext, indicators, { now: NOW })
  for (const [code, value] of Object.entries(otherValues())) app.values[code] = value
  for (const [at, { compra, venta }] of [...COUNTERS.values()].entries()) {
    const last = at === 1 ? EARLIER : TODAY
    app.values[compra] = counter(480 + (at % 9), last)
    app.values[venta] = counter(493 + (at % 7) * 1.5, TODAY)
  }
  const page = await fillPageApp(app)
  await app.enable(codes, FROM)
  await app.read()
  return { ...page, codes }
}

function otherValues(): Record<string, (day: IsoDate) => string | null | undefined> {
  const daily = (value: (day: number) => string) => (day: IsoDate) =>
    day <= TODAY ? value(dayNumber(day)) : undefined
  return {
    '423': daily((day) => `${4 - Math.floor((day % 364) / 28) * 0.05}`.slice(0, 5)),
    '3541': daily((day) => (day % 400 < 200 ? '-0.25' : '3.25')),
    '3323': daily((day) => `${(487 + Math.sin(day / 20) * 6).toFixed(2)}`),
    '3446': daily((day) => `${(41_250_000 + (day % 90) * 125_000.5).toFixed(2)}`),
    '98405': (day) =>
      day <= TODAY && day.endsWith('-01') ? `${111 + (dayNumber(day) % 37) / 10}` : undefined,
    '347': daily((day) => `${(1043 + (day % 365) / 90).toFixed(3)}`),
  }
}

function counter(base: number, last: IsoDate): (day: IsoDate) => string | undefined {
  return (day) =>
    day <= last ? (base + Math.round(Math.sin(dayNumber(day) / 15) * 400) / 100).toFixed(2) : undefined
}
