// Texts of the screen of exchange rates.

import { textTable } from './table.ts'

export const RATES = textTable({
  dollar: {
    title: ['Dólar estadounidense', 'US dollar'],
    date: ['Fecha', 'Date'],
    previous: ['Día anterior', 'Day before'],
    next: ['Día siguiente', 'Day after'],
    margin: ['Margen', 'Margin'],
    against: (day: string) => [`frente al ${day}`, `against ${day}`],
    same: ['sin cambio', 'no change'],
    ownDay: (day: string) => [`Valor del ${day}`, `Value of ${day}`],
    otherDay: (asked: string, day: string) => [
      `No hay valor publicado para el ${asked}; responde el ${day}, el último publicado antes.`,
      `No value was published for ${asked}; ${day} answers, the last one published before it.`,
    ],
    missing: (side: string) => [
      `Falta ${side.toLowerCase()}: ese día no se ha sincronizado.`,
      `${side} is missing: that day has not been synchronized.`,
    ],
    rounded: (places: number) => [
      `Redondeado por la fuente a ${places} decimales`,
      `Rounded by the source to ${places} decimals`,
    ],
    none: ['No hay dólar para este día', 'There is no dollar for this day'],
    noneText: [
      'La historia comienza en 1983, o este día todavía no se ha sincronizado.',
      'The history begins in 1983, or this day has not been synchronized yet.',
    ],
    refused: {
      title: ['Esta fecha no se consulta', 'This date is not looked up'],
      future: (day: string, today: string) => [
        `El ${day} está en el futuro: hoy es ${today}.`,
        `${day} is in the future: today is ${today}.`,
      ],
      before: (first: string) => [`La historia comienza el ${first}.`, `The history begins on ${first}.`],
      unreadable: [
        'Escriba una fecha completa que exista en el calendario.',
        'Type a complete date that exists in the calendar.',
      ],
    },
  },

  convert: {
    title: ['Convertir', 'Convert'],
    amount: ['Monto', 'Amount'],
    source: ['De', 'From'],
    target: ['A', 'To'],
    swap: ['Intercambiar las monedas', 'Swap the currencies'],
    side: ['Lado del tipo de cambio', 'Side of the rate'],
    reads: (amount: string, code: string) => [`Se lee ${amount} ${code}`, `Read as ${amount} ${code}`],
    copy: ['Copiar con todos los dígitos', 'Copy with all digits'],
    copied: ['Copiado', 'Copied'],
    rate: (source: string, rate: string, target: string) => [
      `1 ${source} = ${rate} ${target}`,
      `1 ${source} = ${rate} ${target}`,
    ],
    exactly: ['Exacto', 'Exactly'],
    errors: {
      empty: ['Escriba un monto.', 'Type an amount.'],
      unreadable: [
        'Ese monto no se puede leer de una sola manera. Por ejemplo: 15.000,50 o 15,000.50.',
        'This amount can be read in more than one way, or in none. For example: 15,000.50 or 15.000,50.',
      ],
      'not-positive': ['El monto debe ser mayor que cero.', 'The amount must be greater than zero.'],
      'too-long': ['Ese monto tiene demasiados dígitos.', 'This amount has too many digits.'],
    },
    none: [
      'No hay tipo de cambio para estas monedas en esta fecha.',
      'There is no rate for these currencies on this date.',
    ],
  },

  history: {
    title: ['Historia', 'History'],
    pair: ['Par de monedas', 'Currency pair'],
    span: ['Plazo', 'Span'],
    spans: {
      '1m': ['1M', '1M'],
      '3m': ['3M', '3M'],
      '6m': ['6M', '6M'],
      '1y': ['1A', '1Y'],
      '5y': ['5A', '5Y'],
      '10y': ['10A', '10Y'],
      all: ['Todo', 'All'],
    },
    spanNames: {
      '1m': ['Un mes', 'One month'],
      '3m': ['Tres meses', 'Three months'],
      '6m': ['Seis meses', 'Six months'],
      '1y': ['Un año', 'One year'],
      '5y': ['Cinco años', 'Five years'],
      '10y': ['Diez años', 'Ten years'],
      all: ['Toda la historia', 'The whole history'],
    },
    from: ['Desde', 'From'],
    to: ['Hasta', 'To'],
    cursor: ['Día que se lee en el gráfico', 'Day that is read from the chart'],
    zoomHint: ['Arrastre sobre el gráfico para acercar.', 'Drag over the chart to zoom in.'],
    zoomOut: ['Volver al plazo', 'Back to the span'],
    low: ['Mínimo', 'Lowest'],
    high: ['Máximo', 'Highest'],
    mean: ['Promedio', 'Mean'],
    change: ['Variación', 'Change'],
    asTable: ['Ver como tabla', 'Show as a table'],
    hideTable: ['Ocultar la tabla', 'Hide the table'],
    csv: ['CSV', 'CSV'],
    excel: ['Excel', 'Excel'],
    day: ['Fecha', 'Date'],
    rows: (shown: string, all: string) => [`${shown} de ${all} días`, `${shown} of ${all} days`],
    more: ['Mostrar más', 'Show more'],
    allInExcel: ['El archivo de Excel tiene todos los días.', 'The Excel file has every day.'],
    none: ['No hay valores en este plazo', 'There are no values in this span'],
    noneText: ['Elija un plazo más largo u otro par.', 'Choose a longer span or another pair.'],
    caption: (pair: string, from: string, to: string) => [
      `${pair}, del ${from} al ${to}`,
      `${pair}, ${from} to ${to}`,
    ],
    published: ['Último valor', 'Last value'],
  },

  /** Titles below the first screen; the other texts are in months.ts. */
  below: {
    months: ['Cierres y promedios por mes', 'Closes and means by month'],
    export: ['Exportar todos los valores', 'Export every value'],
  },

  currencies: {
    title: ['Todas las monedas', 'All currencies'],
    of: (day: string) => [
      `Valores al ${day}, como los publica el banco`,
      `Values of ${day}, as the bank publishes them`,
    ],
    search: ['Buscar moneda', 'Search a currency'],
    none: (query: string) => [`Ninguna moneda coincide con «${query}».`, `No currency matches “${query}”.`],
    clear: ['Borrar la búsqueda', 'Clear the search'],
    code: ['Código', 'Code'],
    name: ['Moneda', 'Currency'],
    pair: ['Par', 'Pair'],
    value: ['Valor', 'Value'],
    day: ['Fecha', 'Date'],
    chart: (name: string) => [`Ver la historia de ${name}`, `Show the history of ${name}`],
    found: (count: number) => [
      count === 1 ? 'Una moneda' : `${count} monedas`,
      count === 1 ? 'One currency' : `${count} currencies`,
    ],
  },
})
