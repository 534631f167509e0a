// Formats of other services: the address of a question, and the pattern of the number in its answer.

const ASMX = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/ObtenerIndicadoresEconomicosXML'
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/indicadoresEconomicos'
const NUMBER = String.raw`(-?\d+(?:\.\d+)?)`

/** A conversion of 1 on a day. */
export type ShapeQuestion = { from: string; to: string; side: 'compra' | 'venta'; day: string }
/** The path of a request, and a pattern for the number in its answer. */
export type Shape = (question: ShapeQuestion) => { path: string; number: RegExp }

/** Shapes of any pair. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  valor: ({ from, to, side, day }) => ({
    path: `/compat/valor?de=${from}&a=${to}&fecha=${day}&tipo=${side}`,
    number: new RegExp(`^${NUMBER}$`),
  }),
  'Frankfurter v1': ({ from, to, side, day }) => ({
    path: `/v1/${day}?base=${from}&symbols=${to}&tipo=${side}`,
    number: new RegExp(`"${to}":${NUMBER}[,}]`),
  }),
  'Frankfurter v2': ({ from, to, side, day }) => ({
    path: `/v2/rate/${from}/${to}?date=${day}&tipo=${side}`,
    number: new RegExp(`"rate":${NUMBER}[,}]`),
  }),
  currencylayer: ({ from, to, side, day }) => ({
    path: `/historical?date=${day}&source=${from}&currencies=${to}&tipo=${side}`,
    number: new RegExp(`"${from}${to}":${NUMBER}[,}]`),
  }),
  Fixer: ({ from, to, side, day }) => ({
    path: `/api/${day}?base=${from}&symbols=${to}&tipo=${side}`,
    number: new RegExp(`"${to}":${NUMBER}[,}]`),
  }),
  'Open Exchange Rates': ({ from, to, side, day }) => ({
    path: `/api/historical/${day}.json?base=${from}&symbols=${to}&tipo=${side}`,
    number: new RegExp(`"${to}": ?${NUMBER}[,}\\s]`),
  }),
  'ExchangeRate-API': ({ from, to, side, day }) => ({
    path: `/v6/history/${from}/${day.split('-').map(Number).join('/')}?tipo=${side}`,
    number: new RegExp(`"${to}":${NUMBER}[,}]`),
  }),
}
/** Shapes of Costa Rica, of the dollar alone. */
export const DOLLAR_SHAPES: Readonly<Record<string, Shape>> = {
  "the bank's old service": ({ side, day }) => {
    const local = day.split('-').reverse().join('/')
    const rest = 'Nombre=N&SubNiveles=N&CorreoElectronico=a@b.cr&Token='
    const code = side === 'compra' ? 317 : 318
    const query = `Indicador=${code}&FechaInicio=${local}&FechaFinal=${local}&${rest}`
    return { path: `${ASMX}?${query}`, number: new RegExp(`NUM_VALOR&gt;${NUMBER}&lt;`) }
  },
  "the bank's present service": ({ side, day }) => {
    const slashed = day.replaceAll('-', '/')
    const code = side === 'compra' ? 317 : 318
    const path = `${SDDE}/${code}/series?fechaInicio=${slashed}&fechaFin=${slashed}&idioma=ES`
    return { path, number: new RegExp(`"valorDatoPorPeriodo":${NUMBER}`) }
  },
  paginasweb: ({ side, day }) => ({
    path: `/api//${day.split('-').map(Number).toReversed().join('/')}`,
    number: new RegExp(`"${side}":${NUMBER}`),
  }),
  Hacienda: ({ side, day }) => ({
    path: `/indicadores/tc/dolar?fecha=${day}`,
    number: new RegExp(`"${side}":\\{"fecha":"[^"]*","valor":${NUMBER}`),
  }),
}

/** Digits of a number without zeros at its end, as /convert has them. */
export function plainDigits(digits: string | undefined): string | undefined {
  return digits?.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}
