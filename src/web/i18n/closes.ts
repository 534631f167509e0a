// Texts of the closes and means of periods, loaded with their view.

import { textTable } from './table-texts.ts'

export const CLOSES = textTable({
  title: ['Cierres y promedios', 'Month-end and average rates'],
  pair: (source: string, target: string, pair: string) => [
    `${source} en ${target} (${pair})`,
    `${source} in ${target} (${pair})`,
  ],
  period: ['Período', 'Period'],
  periods: { month: ['Mes', 'Month'], quarter: ['Trimestre', 'Quarter'], year: ['Año', 'Year'] },
  shortPeriods: { month: ['Mes', 'Month'], quarter: ['Trim.', 'Qtr.'], year: ['Año', 'Year'] },
  every: {
    month: ['por mes', 'by month'],
    quarter: ['por trimestre', 'by quarter'],
    year: ['por año', 'by year'],
  },
  quarter: (roman: string, number: number) => [`${roman} trimestre`, `Q${number}`],
  year: ['Año', 'Year'],
  previous: ['Año anterior', 'Year before'],
  next: ['Año siguiente', 'Year after'],
  day: ['Día', 'Day'],
  closeDay: ['Día del cierre', 'Day of the close'],
  stats: {
    last: ['Cierre', 'Close'],
    mean: ['Promedio', 'Mean'],
    low: ['Mínimo', 'Lowest'],
    high: ['Máximo', 'Highest'],
  },
  note: ['Nota', 'Note'],
  current: ['en curso', 'in progress'],
  incomplete: ['incompleto', 'incomplete'],
  currentMeans: ['El período no ha terminado.', 'The period is not over.'],
  missing: (days: string) => [`Faltan días sin sincronizar: ${days}.`, `Days without a sync: ${days}.`],
  missingUnknown: [
    'No se sabe cuáles días faltan por sincronizar.',
    'It is not known which days have not been synchronized.',
  ],
  range: (from: string, to: string) => [`${from} a ${to}`, `${from} to ${to}`],
  olderDay: (day: string) => [`El valor más antiguo es del ${day}.`, `The oldest value is of ${day}.`],
  exact: ['Más decimales', 'More decimals'],
  rounding: [
    '2 decimales, redondeo comercial. Al copiar y descargar van todos.',
    '2 decimals, rounded half away from zero. Copies and files have all.',
  ],
  crossRounding: [
    '6 cifras significativas, redondeo comercial. Al copiar y descargar van todas.',
    '6 significant digits, rounded half away from zero. Copies and files have all.',
  ],
  roundedMeans: (places: number) => [
    `r${places}: redondeado por la fuente a ${places} decimales.`,
    `r${places}: rounded by the source to ${places} decimals.`,
  ],
  roundedNote: (column: string, places: number) => [
    `${column}: redondeado por la fuente a ${places} decimales`,
    `${column}: rounded by the source to ${places} decimals`,
  ],
  shortSource: (sources: string) => [`Fuente: BCCR, ${sources}.`, `Source: BCCR, ${sources}.`],
  meaning: {
    month: [
      'Cierre: último valor del mes. Promedio: de todos los días con valor.',
      'Close: last value of the month. Mean: of all days with a value.',
    ],
    quarter: [
      'Cierre: último valor del trimestre. Promedio: de todos los días con valor.',
      'Close: last value of the quarter. Mean: of all days with a value.',
    ],
    year: [
      'Cierre: último valor del año. Promedio: de todos los días con valor.',
      'Close: last value of the year. Mean: of all days with a value.',
    ],
  },
  retrieved: (day: string, time: string) => [
    `Consultado el ${day} a las ${time}, hora de Costa Rica.`,
    `Retrieved on ${day} at ${time}, Costa Rica time.`,
  ],
  none: (pair: string, year: string) => [
    `No hay valores de ${pair}${year === '' ? '' : ` en ${year}`}`,
    `There are no values of ${pair}${year === '' ? '' : ` in ${year}`}`,
  ],
  noneText: ['Elija otro año u otras monedas.', 'Choose another year or other currencies.'],
  copy: ['Copiar la tabla', 'Copy the table'],
  meanOfCloses: ['Promedio de los cierres', 'Mean of the closes'],
  wholeOnly: [
    'cambia con el filtro; sin los períodos incompletos',
    'changes with the filter; without incomplete periods',
  ],
})
