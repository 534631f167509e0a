// Texts of notices about missing data.

import { textTable } from './table-texts.ts'

export const MISSING_DATA = textTable({
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
