// Texts of one document, loaded when it is opened.

import { textTable } from './table.ts'

export const DOCUMENT = textTable({
  attempts: (count: number) => [
    count === 1 ? 'después de un intento' : `después de ${count} intentos`,
    count === 1 ? 'after one attempt' : `after ${count} attempts`,
  ],
  gone: ['Este documento ya no existe', 'This document no longer exists'],
  goneText: ['Fue eliminado, o este acceso no lo incluye.', 'It was deleted, or this access excludes it.'],

  view: ['Ver', 'View'],
  viewLess: ['Ver menos', 'View less'],
  download: ['Descargar', 'Download'],
  downloading: ['Descargando…', 'Downloading…'],
  delete: ['Eliminar', 'Delete'],
  deleteQuestion: [
    '¿Eliminar este documento? No se puede deshacer.',
    'Delete this document? This cannot be undone.',
  ],
  cancel: ['Cancelar', 'Cancel'],
  details: ['Detalles', 'Details'],
  number: (id: number) => [`n.º ${id}`, `no. ${id}`],

  type: ['Tipo', 'Type'],
  time: ['Recibido', 'Received'],
  company: ['Empresa', 'Company'],
  agent: ['Agente', 'Agent'],
  sender: ['Enviado por', 'Sent by'],
  hash: ['SHA-256', 'SHA-256'],

  preview: {
    cut: (size: string) => [`Se muestran los primeros ${size}.`, `The first ${size} are shown.`],
    notShown: [
      'De este tipo se muestran solo los datos. Descárguelo para abrirlo.',
      'Of this type only the facts are shown. Download it to open it.',
    ],
    notAnImage: [
      'Su contenido no es la imagen que dice ser: no se muestra.',
      'Its content is not the image that it says it is, so it is not shown.',
    ],
    tooLarge: [
      'La imagen es demasiado grande para mostrarla aquí.',
      'The image is too large to be shown here.',
    ],
    pdfText: [
      'Un PDF se abre en su propia pestaña, separado de esta página.',
      'A PDF opens in its own tab, apart from this page.',
    ],
    notAPdf: [
      'Su contenido no es un PDF: no se abre. Puede descargarlo.',
      'Its content is not a PDF, so it is not opened. You can download it.',
    ],
    emptyText: ['El documento no tiene texto.', 'The document has no text.'],
  },

  history: {
    title: ['Qué ha pasado', 'What has happened'],
    created: ['Llegó', 'Arrived'],
    claimed: ['Lo tomó el agente', 'The agent took it'],
    released: ['Volvió a la espera: lo soltó el agente', 'Back to waiting: the agent released it'],
    expired: [
      'Volvió a la espera: se acabó el plazo sin respuesta',
      'Back to waiting: the time ran out without an answer',
    ],
    done: ['Listo', 'Done'],
    failed: ['Falló: lo informó el agente', 'Failed: the agent reported it'],
    abandoned: (count: number) => [
      `Falló: ${count} intentos sin terminar`,
      `Failed: ${count} attempts that did not end`,
    ],
    retried: ['Se puso de nuevo en espera', 'Put back to waiting'],
    sentBy: (who: string) => [`enviado por ${who}`, `sent by ${who}`],
    attempt: (count: number) => [`intento ${count}`, `attempt ${count}`],
    server: ['servidor', 'server'],
    result: (size: string) => [`Resultado (${size})`, `Result (${size})`],
  },
})
