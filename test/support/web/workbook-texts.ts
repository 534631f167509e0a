import type { WorkbookTexts } from '../../../src/web/model/files/workbook.ts'

/** Texts around the table of a workbook, for tests. */
export const WORKBOOK_TEXTS: WorkbookTexts = {
  retrieved: 'Consultado',
  address: 'http://localhost/#rates?on=1',
  footer: 'BCCR · Página &P de &N',
  data: 'Datos',
  sources: 'Fuentes',
  note: 'Nota',
  tooLong: (column) => `${column}: texto`,
  sourceTitles: {
    series: 'Serie',
    indicator: 'Indicador',
    day: 'Fecha',
    value: 'Valor',
    rounding: 'Redondeo',
  },
}
