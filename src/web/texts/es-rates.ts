// The screen of exchange rates in Spanish.

export const ES_RATES = {
  dollar: {
    title: 'Dólar estadounidense',
    date: 'Fecha',
    previous: 'Día anterior',
    next: 'Día siguiente',
    margin: 'Margen',
    against: (day: string) => `frente al ${day}`,
    same: 'sin cambio',
    ownDay: (day: string) => `Valor del ${day}`,
    otherDay: (asked: string, day: string) =>
      `No hay valor publicado para el ${asked}; responde el ${day}, el último publicado antes.`,
    missing: (side: string) => `Falta ${side.toLowerCase()}: ese día no se ha sincronizado.`,
    rounded: (places: number) => `Redondeado por la fuente a ${places} decimales`,
    none: 'No hay dólar para este día',
    noneText: 'La historia comienza en 1983, o este día todavía no se ha sincronizado.',
  },

  empty: {
    title: 'Todavía no hay tipos de cambio',
    text: 'El servidor no ha sincronizado nada. Lo hará por sí solo en la madrugada; para no esperar, ejecute en el servidor:',
    after: 'Los valores aparecen aquí apenas lleguen.',
  },

  convert: {
    title: 'Convertir',
    amount: 'Monto',
    source: 'De',
    target: 'A',
    swap: 'Intercambiar las monedas',
    side: 'Lado del tipo de cambio',
    reads: (amount: string, code: string) => `Se lee ${amount} ${code}`,
    copy: 'Copiar con todos los dígitos',
    copied: 'Copiado',
    rate: (source: string, rate: string, target: string) => `1 ${source} = ${rate} ${target}`,
    exactly: 'Exacto',
    faults: {
      empty: 'Escriba un monto.',
      unreadable: 'Ese monto no se puede leer de una sola manera. Por ejemplo: 15.000,50 o 15,000.50.',
      'not-positive': 'El monto debe ser mayor que cero.',
      'too-long': 'Ese monto tiene demasiados dígitos.',
    },
    none: 'No hay tipo de cambio para estas monedas en esta fecha.',
  },

  history: {
    title: 'Historia',
    pair: 'Par de monedas',
    span: 'Plazo',
    spans: { '1m': '1M', '3m': '3M', '6m': '6M', '1y': '1A', '5y': '5A', '10y': '10A', all: 'Todo' },
    spanNames: {
      '1m': 'Un mes',
      '3m': 'Tres meses',
      '6m': 'Seis meses',
      '1y': 'Un año',
      '5y': 'Cinco años',
      '10y': 'Diez años',
      all: 'Toda la historia',
    },
    from: 'Desde',
    to: 'Hasta',
    cursor: 'Día que se lee en el gráfico',
    zoomHint: 'Arrastre sobre el gráfico para acercar.',
    zoomOut: 'Volver al plazo',
    low: 'Mínimo',
    high: 'Máximo',
    mean: 'Promedio',
    change: 'Variación',
    asTable: 'Ver como tabla',
    hideTable: 'Ocultar la tabla',
    csv: 'CSV',
    excel: 'Excel',
    day: 'Fecha',
    rows: (shown: string, all: string) => `${shown} de ${all} días`,
    more: 'Mostrar más',
    allInExcel: 'El archivo de Excel tiene todos los días.',
    none: 'No hay valores en este plazo',
    noneText: 'Elija un plazo más largo u otro par.',
    caption: (pair: string, from: string, to: string) => `${pair}, del ${from} al ${to}`,
    published: 'Último valor',
  },

  /** What is scrolled to; the rest of it is in es-months.ts. */
  below: { months: 'Cierres y promedios por mes', export: 'Exportar todos los valores' },

  currencies: {
    title: 'Todas las monedas',
    of: (day: string) => `Valores al ${day}, como los publica el banco`,
    search: 'Buscar moneda',
    none: (query: string) => `Ninguna moneda coincide con «${query}».`,
    clear: 'Borrar la búsqueda',
    code: 'Código',
    name: 'Moneda',
    pair: 'Par',
    value: 'Valor',
    day: 'Fecha',
    chart: (name: string) => `Ver la historia de ${name}`,
    found: (count: number) => (count === 1 ? 'Una moneda' : `${count} monedas`),
  },
}

export type RatesTexts = typeof ES_RATES
