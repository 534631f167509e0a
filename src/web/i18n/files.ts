// Texts of the menu of downloads and of its files, loaded with it.

import { textTable } from './table-texts.ts'

export const FILES = textTable({
  formats: {
    excel: ['Excel', 'Excel'],
    spanish: ['CSV para Excel en español', 'CSV for Excel in Spanish'],
    programs: ['CSV', 'CSV'],
  },
  details: {
    excel: [
      'Con título, fuente y hora; listo para archivar e imprimir',
      'With title, source and time; ready to file and print',
    ],
    spanish: ['Punto y coma, coma decimal, dd/mm/aaaa', 'Semicolons, decimal commas, dd/mm/yyyy'],
    programs: [
      'Coma, punto decimal, aaaa-mm-dd: para programas',
      'Commas, decimal points, yyyy-mm-dd: for programs',
    ],
  },
  allDigits: [
    'Todos los decimales, también los que aquí no se muestran.',
    'All decimals, also those that are not shown here.',
  ],
  data: ['Datos', 'Data'],
  sources: ['Fuentes', 'Sources'],
  note: ['Nota', 'Note'],
  tooLong: (column: string) => [
    `${column}: como texto, por tener más de 15 dígitos`,
    `${column}: as text, because it has more than 15 digits`,
  ],
  retrieved: (day: string, time: string) => [
    `Consultado el ${day} a las ${time}, hora de Costa Rica`,
    `Retrieved on ${day} at ${time}, Costa Rica time`,
  ],
  footer: (day: string, time: string) => [
    `BCCR · consultado el ${day} ${time} · Página &P de &N`,
    `BCCR · retrieved on ${day} ${time} · Page &P of &N`,
  ],
  sourceTitles: {
    series: ['Serie', 'Series'],
    indicator: ['Indicador', 'Indicator'],
    day: ['Fecha', 'Date'],
    value: ['Valor', 'Value'],
    rounding: ['Redondeado a decimales', 'Rounded to decimals'],
  },
})
