// Names of the bank's series, for files and the foot of tables.

import { textTable } from './table-texts.ts'

export const SOURCES = textTable({
  and: ['y', 'and'],
  bank: (sources: string) => [
    `Fuente: Banco Central de Costa Rica, ${sources}`,
    `Source: Banco Central de Costa Rica, ${sources}`,
  ],
  rate: ['tipo de cambio de referencia', 'reference exchange rate'],
  indicators: (codes: string) => [
    `${/,? y /.test(codes) ? 'indicadores' : 'indicador'} ${codes}`,
    `${/,? and /.test(codes) ? 'indicators' : 'indicator'} ${codes}`,
  ],
  parity: (pairs: string, count: number) => [
    `${count === 1 ? 'paridad' : 'paridades'} ${pairs}`,
    `${count === 1 ? 'parity' : 'parities'} ${pairs}`,
  ],
})
