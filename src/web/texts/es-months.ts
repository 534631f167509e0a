// The months of a year, and the export, in Spanish.

export const ES_MONTHS = {
  source: 'Moneda',
  target: 'Expresada en',
  year: 'Año',
  previous: 'Año anterior',
  next: 'Año siguiente',
  month: 'Mes',
  stats: { last: 'Cierre', mean: 'Promedio', low: 'Mínimo', high: 'Máximo' },
  caption: (pair: string, year: string, side: string) =>
    [`${pair}, ${year}`, side].filter(Boolean).join(' · '),
  note: 'Nota',
  partial: 'parcial',
  partialOf: (side: string) => `parcial: ${side.toLowerCase()}`,
  dayOf: (title: string) => `${title}: fecha`,
  roundedOf: (title: string) => `${title}: decimales de la fuente`,
  meaning:
    'Cierre: el último valor del mes. Promedio: el de todos los días con valor. Debajo está el día de publicación; donde intervienen dos valores, el más viejo.',
  partialMeans: 'Parcial: el mes no ha terminado, o no se conocen todos sus días.',
  roundedMeans: (places: number) => `r${places}: redondeado por la fuente a ${places} decimales.`,
  none: (pair: string, year: string) => `No hay valores de ${pair} en ${year}`,
  noneText: 'Elija otro año u otras monedas.',
  copy: 'Copiar la tabla',
  copied: 'Copiada',
  notCopied: 'El navegador no permite copiar',
  csvLocal: 'CSV es-CR',
  csvLocalText: 'Con punto y coma y coma decimal, para hojas de cálculo en español',

  export: {
    text: 'Cada valor guardado, con su redondeo y el momento en que se guardó, y los días que se conocen. El archivo termina con la cantidad de valores y su SHA-256; otro cambista lo lee con «cambista import».',
    file: (format: string) => `Exportar ${format}`,
    started: 'El navegador guarda el archivo.',
  },
}

export type MonthsTexts = typeof ES_MONTHS
