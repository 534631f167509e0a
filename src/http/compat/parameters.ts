// Query parameters of the compat APIs, for the OpenAPI description. Each API reads its own and ignores others, as
// its service does.

type ParameterTexts = Readonly<Record<string, string>>

const SIDE = { tipo: 'Which side of the dollar: compra or venta; else that of the key' }
const TABLE = {
  base: 'The currency of which one unit is worth the rates',
  symbols: 'The currencies, with commas between',
}
const PERIOD = { start_date: 'The first day, YYYY-MM-DD', end_date: 'The last day, YYYY-MM-DD' }
const CONVERSION = {
  from: 'A currency',
  to: 'Another one',
  amount: 'How much of the first',
  date: 'A day; else today',
}
const SOURCE = {
  source: 'The currency of which one unit is worth the quotes',
  currencies: 'With commas between',
}
const HACIENDA = { fecha: 'A day, YYYY-MM-DD; else today', fechas: '2020: days as they were written then' }
const FORMS = {
  prettyprint: 'Indented, for people',
  callback: 'A function of a page that is called with the answer',
}
const INDICATOR = {
  Indicador: 'The number of an indicator of the bank, such as 318',
  FechaInicio: 'The first day, dd/mm/yyyy',
  FechaFinal: 'The last day, dd/mm/yyyy',
  Nombre: 'Not looked at',
  SubNiveles: 'Not looked at',
  CorreoElectronico: 'Not looked at',
  Token: 'A key that was made for URLs, or the registered token of the bank',
}
const V2 = {
  base: 'The base, else EUR',
  quotes: 'The currencies, with commas between',
  date: 'A day',
  from: 'The first day',
}
const V2_MORE = {
  to: 'The last day',
  group: 'week or month',
  providers: 'Codes, with commas between',
  expand: 'providers',
}
const DIALECT = {
  dialect: 'es-CR: with semicolons, decimal commas and dd/mm/yyyy',
  decimal: '. or ,',
  sep: ', or ;',
}

/** By the beginning of the path; the first that fits has them. */
const ENDPOINT_PARAMETERS: readonly [path: RegExp, parameters: ParameterTexts][] = [
  [/^\/bccr\//, INDICATOR],
  [/^\/sdde\//, { fechaInicio: 'The first day, yyyy/mm/dd', fechaFin: 'The last day, yyyy/mm/dd' }],
  [/^\/hacienda[^/]*\/.*\/historico$/, { d: 'The first day, YYYY-MM-DD', h: 'The last day, YYYY-MM-DD' }],
  [/^\/hacienda/, { ...HACIENDA, ...SIDE }],
  [/^\/frankfurter\/v2\/.*rates\.csv$/, { ...V2, ...V2_MORE, ...DIALECT, ...SIDE }],
  [/^\/frankfurter\/v2\/.*rates$/, { ...V2, ...V2_MORE, ...SIDE }],
  [/^\/frankfurter\/v2\/rate\//, { date: 'A day; else today', ...SIDE }],
  [/^\/frankfurter\/(v1\/)?(latest|current|\{day\})$/, { ...TABLE, amount: 'How much of the base', ...SIDE }],
  [/^\/(currencylayer|fixer\/api)\/convert$/, { ...CONVERSION, ...SIDE }],
  [/^\/currencylayer\/timeframe$/, { ...SOURCE, ...PERIOD, ...SIDE }],
  [/^\/currencylayer\/(live|historical)$/, { ...SOURCE, date: 'The day, of /historical', ...SIDE }],
  [/^\/fixer\/api\/timeseries$/, { ...TABLE, ...PERIOD, ...SIDE }],
  [/^\/(fixer\/api|currencylayer)\/(latest|\{day\})$/, { ...TABLE, ...SIDE }],
  [
    /^\/oxr\/.*time-series\.json$/,
    { start: 'The first day', end: 'The last day', ...TABLE, ...FORMS, ...SIDE },
  ],
  [/^\/oxr\/.*(latest\.json|\{file\})$/, { ...TABLE, ...FORMS, ...SIDE }],
  [/^\/oxr\/.*convert/, { ...FORMS, ...SIDE }],
  [/^\/oxr\//, FORMS],
  [/^\/exchangerate-api\/.*\/(latest|pair|history)\//, SIDE],
  [
    /^\/valor$/,
    {
      de: 'The currency that is asked for; else USD',
      a: 'The currency that it is told in; else CRC',
      fecha: 'A day, YYYY-MM-DD, not after tomorrow; else today',
      monto: 'An amount of the first currency, of which the worth is told; else 1',
      decimal: '. or ,',
      provider: 'A provider code; else bccr',
      ...SIDE,
    },
  ],
]

/** Returns the parameters of an endpoint, by name, with their descriptions. */
export function endpointParameters(path: string): ParameterTexts {
  const apiPath = path.replace(/^\/compat/, '')
  return ENDPOINT_PARAMETERS.find(([pattern]) => pattern.test(apiPath))?.[1] ?? {}
}
