// Texts of the screen of documents, loaded with it.

import { textTable } from './table-texts.ts'

export const DOCUMENTS = textTable({
  queue: {
    title: ['Cola de documentos', 'Queue of documents'],
    waiting: ['En espera', 'Waiting'],
    working: ['En proceso', 'In progress'],
    failed: ['Fallaron', 'Failed'],
    today: ['Listos hoy', 'Done today'],
    oldest: (duration: string) => [`el más antiguo: ${duration}`, `the oldest: ${duration}`],
    median: (duration: string) => [`${duration} de la llegada al final`, `${duration} from arrival to end`],
  },

  states: {
    new: ['En espera', 'Waiting'],
    claimed: ['En proceso', 'In progress'],
    done: ['Listo', 'Done'],
    failed: ['Falló', 'Failed'],
  },

  filters: {
    search: ['Buscar por nombre', 'Search by name'],
    state: ['Estado', 'State'],
    states: {
      '': ['Estado: todos', 'State: all'],
      waiting: ['En espera', 'Waiting'],
      working: ['En proceso', 'In progress'],
      failed: ['Fallaron', 'Failed'],
      done: ['Listos', 'Done'],
      today: ['Listos hoy', 'Done today'],
    },
    since: ['Desde', 'From'],
    until: ['Hasta', 'Until'],
    agent: ['Agente', 'Agent'],
    company: ['Empresa', 'Company'],
    all: ['Todos', 'All'],
    allCompanies: ['Todas', 'All'],
    title: (count: number) => [
      count === 0 ? 'Filtros' : `Filtros · ${count}`,
      count === 0 ? 'Filters' : `Filters · ${count}`,
    ],
    clear: ['Quitar filtros', 'Clear filters'],
    clearDay: ['Quitar la fecha', 'Clear the date'],
    future: (day: string) => [
      `El ${day} todavía no ha llegado; hoy es el último día.`,
      `${day} is still to come; today is the last day.`,
    ],
    before: (first: string) => [
      `No hay documentos antes del ${first}.`,
      `There are no documents before ${first}.`,
    ],
  },

  documents: {
    companyId: (id: number) => [`Empresa ${id}`, `Company ${id}`],
    agentId: (id: number) => [`Agente ${id}`, `Agent ${id}`],
    list: ['Recibidos', 'Received'],
    send: ['Enviar documentos', 'Send documents'],
    photo: ['Foto', 'Photo'],
    text: ['Texto', 'Text'],
    none: ['Todavía no ha llegado ningún documento', 'No document has arrived yet'],
    noneText: [
      'Los que lleguen aparecen aquí automáticamente. También puede enviar el primero.',
      'Those that arrive appear here automatically. You can also send the first one.',
    ],
    noneFound: ['No hay documentos de esta selección', 'There are no documents for this selection'],
    searching: ['Buscando…', 'Searching…'],
    more: ['Mostrar más', 'Show more'],
    searchOn: (day: string) => [`Seguir buscando antes del ${day}`, `Go on searching before ${day}`],
    searchOnAnywhere: ['Seguir buscando', 'Go on searching'],
    count: (count: string, isOne: boolean) => [
      isOne ? 'un documento' : `${count} documentos`,
      isOne ? 'one document' : `${count} documents`,
    ],
    countOf: (count: string, all: string) => [
      `${count} de ${all} documentos`,
      `${count} of ${all} documents`,
    ],
    fresh: (count: number) => [
      count === 1 ? 'Llegó un documento' : `Llegaron ${count} documentos`,
      count === 1 ? 'One document has arrived' : `${count} documents have arrived`,
    ],
    waitingFor: (duration: string) => [`Espera desde hace ${duration}.`, `Waiting for ${duration}.`],
    untaken: (duration: string) => [
      `Espera desde hace ${duration}: ningún agente lo ha tomado.`,
      `Waiting for ${duration}: no agent has taken it.`,
    ],
    noNews: (duration: string) => [`sin noticias desde hace ${duration}`, `no news for ${duration}`],
    attempt: (count: number) => [`Intento ${count}`, `Attempt ${count}`],
    abandoned: (count: number) => [
      `Se dejó después de ${count} intentos sin terminar.`,
      `Given up after ${count} attempts that did not end.`,
    ],
    lost: ['El contenido se perdió en el servidor', 'The server lost its content'],
    retry: ['Reintentar', 'Retry'],
    retryNamed: (name: string) => [`Reintentar ${name}`, `Retry ${name}`],
    busy: ['Otro agente ya lo tiene.', 'Another agent has it already.'],
    live: ['Se actualiza automáticamente', 'Updates automatically'],
    waiting: ['Sin conexión: se reintenta automáticamente', 'No connection: retrying automatically'],
    cannotRead: [
      'Con este acceso no puede ver documentos. Pídalo a quien administra cambista.',
      'You cannot see documents with this access. Request it from whoever runs cambista.',
    ],
  },

  times: {
    today: (time: string) => [`hoy, ${time}`, `today, ${time}`],
    yesterday: (time: string) => [`ayer, ${time}`, `yesterday, ${time}`],
  },
})
