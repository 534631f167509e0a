// Texts of the table of all currencies.

import { textTable } from './table-texts.ts'

export const CURRENCIES = textTable({
  subject: (day: string) => [
    `Al ${day}. En colones: por el dólar, con la compra o la venta de referencia`,
    `On ${day}. In colones: through the dollar, with the reference rate to buy or to sell`,
  ],
  search: ['Buscar moneda o país', 'Search currency or country'],
  none: (query: string) => [`Ninguna moneda coincide con «${query}».`, `No currency matches “${query}”.`],
  noValues: ['No hay valores para este día', 'There are no values for this day'],
  clear: ['Borrar la búsqueda', 'Clear the search'],
  matches: (count: number) => [
    count === 1 ? 'Una moneda' : `${count} monedas`,
    count === 1 ? 'One currency' : `${count} currencies`,
  ],
  colones: ['Colones por unidad', 'Colones per unit'],
  bank: ['Publicado por el BCCR', 'Published by the BCCR'],
  inColones: ['En colones', 'In colones'],
  asPublished: ['Como las publica el BCCR', 'As the BCCR publishes them'],
  form: ['Valores de la tabla', 'Values of the table'],
  columns: {
    name: ['Moneda', 'Currency'],
    buy: ['Compra', 'Buy'],
    sell: ['Venta', 'Sell'],
    change: ['Variación en 1 mes', 'Change in 1 month'],
    pair: ['Par', 'Pair'],
    value: ['Valor', 'Value'],
    day: ['Fecha', 'Date'],
  },
  code: ['Código', 'Code'],
  source: [
    'Fuente: Banco Central de Costa Rica, tipo de cambio de referencia y tabla de paridades',
    'Source: Banco Central de Costa Rica, reference exchange rate and table of parities',
  ],
  trend: (name: string) => [`Ver la evolución de ${name}`, `Show the trend of ${name}`],
  main: (count: string, all: string) => [`${count} principales de ${all}`, `${count} main ones of ${all}`],
  showAll: (count: string) => [`Mostrar las ${count}`, `Show all ${count}`],
  showMain: ['Mostrar las principales', 'Show the main ones'],
})
