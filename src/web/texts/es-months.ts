// The months of a year, the export, and notices about missing data, in Spanish.

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

  empty: {
    title: 'Todavía no hay tipos de cambio',
    text: 'El servidor no ha sincronizado nada.',
    next: (instant: string) => `La próxima sincronización automática es el ${instant}.`,
    off: 'La sincronización automática está desactivada.',
    sooner: 'Para no esperar, ejecute en el servidor:',
    run: 'Para sincronizar, ejecute en el servidor:',
    after: 'Los valores aparecen aquí apenas lleguen.',
  },

  missingDays: {
    holes: (from: string, to: string, others: number) =>
      `Faltan días sin sincronizar: ${from === to ? `el ${from}` : `del ${from} al ${to}`}${
        others === 0 ? '' : others === 1 ? ' y un período más' : ` y ${others} períodos más`
      }. Las cifras no los incluyen.`,
    unknown: 'No se sabe cuáles días faltan por sincronizar.',
  },

  leftOut: (names: string) => `Faltan porque ese día no se ha sincronizado: ${names}.`,

  export: {
    text: 'Cada valor guardado, con su redondeo y el momento en que se guardó, y los días que se conocen. El archivo termina con la cantidad de valores y su SHA-256; otro cambista lo lee con «cambista import».',
    file: (format: string) => `Exportar ${format}`,
    started: 'El navegador guarda el archivo.',
  },
}

export type MonthsTexts = typeof ES_MONTHS
