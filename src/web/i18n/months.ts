// Texts of months and notices about missing data.

import { textTable } from './table.ts'

export const MONTHS = textTable({
  source: ['De', 'From'],
  target: ['A', 'To'],
  year: ['Año', 'Year'],
  previous: ['Año anterior', 'Year before'],
  next: ['Año siguiente', 'Year after'],
  month: ['Mes', 'Month'],
  stats: {
    last: ['Cierre', 'Close'],
    mean: ['Promedio', 'Mean'],
    low: ['Mínimo', 'Lowest'],
    high: ['Máximo', 'Highest'],
  },
  note: ['Nota', 'Note'],
  partial: ['parcial', 'partial'],
  partialOf: (side: string) => [`parcial: ${side.toLowerCase()}`, `partial: ${side.toLowerCase()}`],
  dayOf: (title: string) => [`${title}: fecha`, `${title}: date`],
  roundedOf: (title: string) => [`${title}: decimales de la fuente`, `${title}: decimals of the source`],
  meaning: [
    'Cierre: el último valor del mes. Promedio: el de todos los días con valor. Debajo está el día de publicación; donde intervienen dos valores, el más antiguo.',
    'Close: the last value of the month. Mean: the mean of all days with a value. Below is the day of publication; for two values, the oldest.',
  ],
  partialMeans: [
    'Parcial: el mes no ha terminado, o no se conocen todos sus días.',
    'Partial: the month is not over, or not all of its days are known.',
  ],
  roundedMeans: (places: number) => [
    `r${places}: redondeado por la fuente a ${places} decimales.`,
    `r${places}: rounded by the source to ${places} decimals.`,
  ],
  none: (pair: string, year: string) => [
    `No hay valores de ${pair} en ${year}`,
    `There are no values of ${pair} in ${year}`,
  ],
  noneText: ['Elija otro año u otras monedas.', 'Choose another year or other currencies.'],
  copy: ['Copiar la tabla', 'Copy the table'],
  csvLocal: ['CSV es-CR', 'CSV es-CR'],
  csvLocalText: [
    'Con punto y coma y coma decimal, para hojas de cálculo en español',
    'With semicolons and decimal commas, for spreadsheets in Spanish',
  ],

  missingDays: {
    holes: (from: string, to: string, others: number) => [
      `Faltan días sin sincronizar: ${from === to ? `el ${from}` : `del ${from} al ${to}`}${
        others === 0 ? '' : others === 1 ? ' y un período más' : ` y ${others} períodos más`
      }. Las cifras no los incluyen.`,
      `Days without a sync are missing: ${from === to ? from : `${from} to ${to}`}${
        others === 0 ? '' : others === 1 ? ' and one more period' : ` and ${others} more periods`
      }. The figures do not include them.`,
    ],
    unknown: [
      'No se sabe cuáles días faltan por sincronizar.',
      'It is not known which days have not been synchronized.',
    ],
  },

  leftOut: (names: string) => [
    `Faltan porque ese día no se ha sincronizado: ${names}.`,
    `Missing because that day has not been synchronized: ${names}.`,
  ],
})
