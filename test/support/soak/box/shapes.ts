// Readers of old days, whose values never change: each format of other services has the digits of /convert. So have the
// files of the European Central Bank, and rates of the other sources have their captured digits.

import { inventedValue } from '../../../../src/demo/invented-rates.ts'
import { addDays, dayNumber } from '../../../../src/values/dates.ts'
import {
  DOLLAR_SHAPES,
  plainDigits,
  SHAPES,
  type Shape,
  type ShapeQuestion,
} from '../../rates/shape-questions.ts'
import { type Answer, count, fault, request, rest, type Soak } from '../world.ts'

export type ShapeReader = { key: string; from: string; to: string }

type Captured = { provider: string; on: string; base: string; quote: string; value: string }

const CURRENCIES = ['USD', 'EUR', 'CRC', 'JPY', 'GBP', 'MXN']
/** Values of the captured answers in test/fixtures. */
const CAPTURED: readonly Captured[] = [
  { provider: 'ecb', on: '2026-03-12', base: 'EUR', quote: 'AUD', value: '1.619' },
  { provider: 'banguat', on: '2026-03-03', base: 'USD', quote: 'GTQ', value: '7.6658' },
  { provider: 'trm', on: '2026-03-19', base: 'USD', quote: 'COP', value: '3704.17' },
  { provider: 'banxico', on: '2026-03-04', base: 'USD', quote: 'MXN', value: '17.5445' },
]
const ECB_FILE = '/stats/eurofxref/eurofxref-hist.csv?provider=ecb'

/** Compares conversions with a format of other services, until the soak is over. */
export async function readShapes(soak: Soak, { key, from, to }: ShapeReader): Promise<void> {
  const { random } = soak
  const headers = { 'x-api-key': key }
  const read = (kind: string, path: string) => request(soak, kind, path, { headers })
  while (!soak.isOver) {
    const side = random.item(['compra', 'venta'] as const)
    const day = addDays(from, random.int(0, dayNumber(to) - dayNumber(from)))
    const isDollar = random.chance(0.4)
    const base = isDollar ? 'USD' : random.item(CURRENCIES)
    const quote = isDollar ? 'CRC' : random.item(CURRENCIES.filter((one) => one !== base))
    const question = { from: base, to: quote, side, day }
    const path = `/api/v1/convert?amount=1&from=${base}&to=${quote}&type=${side}&on=${day}`
    const converted = await read('conversion', path)
    if (!converted) continue
    const rate = converted.status === 200 ? String(JSON.parse(`${converted.body}`).rate) : undefined
    if (isDollar) checkDollar(soak, question, rate)
    const shapes = Object.entries({ ...SHAPES, ...(isDollar && DOLLAR_SHAPES) })
    const [name, shape] = random.item(shapes) as [string, Shape]
    const { path: shapePath, number } = shape(question)
    const answer = await read('shape', shapePath)
    if (answer) compareDigits(soak, `${name} ${shapePath}`, { answer, number, rate })
    await rest(soak, 0, 100)
    const next = CAPTURED.find(({ provider }) => !soak.counts.has(`values of ${provider} compared`))
    if (next || random.chance(0.2)) await readCaptured(soak, next ?? random.item(CAPTURED), read)
  }
}

function checkDollar(soak: Soak, { side, day }: ShapeQuestion, rate: string | undefined): void {
  const value = inventedValue(side === 'compra' ? '317' : '318', day)
  if (value !== undefined && plainDigits(value) !== rate)
    fault(soak, `dollar of ${day}: ${rate}, not ${value}`)
}

function compareDigits(
  soak: Soak,
  what: string,
  { answer, number, rate }: { answer: Answer; number: RegExp; rate: string | undefined },
): void {
  const [, digits] = number.exec(`${answer.body}`) ?? []
  if (plainDigits(digits) === rate) count(soak, 'answers of shapes compared')
  else fault(soak, `${what}: ${answer.status} ${digits}, not ${rate}: ${answer.body.subarray(0, 300)}`)
}

async function readCaptured(
  soak: Soak,
  { provider, on, base, quote, value }: Captured,
  read: (kind: string, path: string) => Promise<Answer | undefined>,
): Promise<void> {
  const answer = await read(
    provider,
    `/api/v1/rates?provider=${provider}&on=${on}&base=${base}&quote=${quote}`,
  )
  if (!answer) return
  const rates = answer.status === 200 ? (JSON.parse(`${answer.body}`) as { value: string }[]) : []
  if (rates.length === 0 && !soak.counts.has(`values of ${provider} compared`))
    return count(soak, `values of ${provider} not synced yet`)
  if (rates.length === 0 || rates.some((one) => one.value !== value))
    fault(soak, `${provider} on ${on}: ${answer.status} ${answer.body}, not ${value}`)
  else count(soak, `values of ${provider} compared`)
  if (provider !== 'ecb') return
  const file = await read('file of the ECB', ECB_FILE)
  if (!file) return
  const lines = `${file.body}`.split('\n').map((line) => line.split(','))
  const column = lines[0]?.indexOf(quote) ?? -1
  const digits = lines.find(([day]) => day === on)?.[column]
  if (digits !== value) fault(soak, `file of the ECB on ${on}: ${file.status} ${digits}, not ${value}`)
}
