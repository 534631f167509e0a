// Texts of the card of indicators.

import { textTable } from './table-texts.ts'

export const INDICATORS = textTable({
  subject: [
    'Otras series que publica el BCCR. Ninguna se usa para convertir.',
    'Other series that the BCCR publishes. None is used to convert.',
  ],
  columns: {
    name: ['Indicador', 'Indicator'],
    value: ['Último valor', 'Last value'],
    unit: ['Unidad', 'Unit'],
    day: ['Fecha', 'Date'],
  },
  value: ['Valor', 'Value'],
  trend: (name: string) => [`Ver la evolución: ${name}`, `Show the trend: ${name}`],
  showAll: (count: string) => [`Mostrar los ${count}`, `Show all ${count}`],
  showLess: ['Mostrar menos', 'Show fewer'],
  shown: (count: string, all: string) => [`${count} de ${all}`, `${count} of ${all}`],
  awaited: ['Todavía no se ha recibido ningún valor', 'No value has been received yet'],
  awaitedText: [
    'El servidor los pide al BCCR después de los tipos de cambio.',
    'The server requests them from the BCCR after the exchange rates.',
  ],
  noneText: ['Elija un período más largo.', 'Choose a longer period.'],
  points: ['puntos porcentuales', 'percentage points'],
  source: (codes: string, count: number) => [
    `Fuente: BCCR, ${count === 1 ? 'indicador' : 'indicadores'} ${codes}.`,
    `Source: BCCR, ${count === 1 ? 'indicator' : 'indicators'} ${codes}.`,
  ],
  and: ['y', 'and'],
  counters: {
    title: ['Ventanilla', 'Counter rates'],
    subject: [
      'Lo que cada entidad paga (compra) y cobra (venta) por un dólar, en colones.',
      'What each entity pays (buy) and charges (sell) for one dollar, in colones.',
    ],
    columns: {
      entity: ['Entidad', 'Entity'],
      compra: ['Compra', 'Buy'],
      venta: ['Venta', 'Sell'],
      spread: ['Margen', 'Spread'],
      day: ['Fecha', 'Date'],
    },
    days: (buy: string, sell: string) => [`compra ${buy} · venta ${sell}`, `buy ${buy} · sell ${sell}`],
    search: ['Buscar entidad', 'Search entity'],
    none: (query: string) => [`Ninguna entidad coincide con «${query}».`, `No entity matches “${query}”.`],
    clear: ['Borrar la búsqueda', 'Clear the search'],
    matches: (count: number) => [
      count === 1 ? 'Una entidad' : `${count} entidades`,
      count === 1 ? 'One entity' : `${count} entities`,
    ],
    kind: ['Tipo', 'Kind'],
    source: [
      'Fuente: Banco Central de Costa Rica, tipo de cambio anunciado en ventanilla',
      'Source: Banco Central de Costa Rica, exchange rate announced at the counter',
    ],
  },
})
