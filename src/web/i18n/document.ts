// Texts of one document, loaded when it is opened.

import { textTable } from './table-texts.ts'

export const DOCUMENT = textTable({
  attempts: (count: number) => [
    count === 1 ? 'después de un intento' : `después de ${count} intentos`,
    count === 1 ? 'after one attempt' : `after ${count} attempts`,
  ],
  gone: ['Este documento ya no existe', 'This document no longer exists'],
  goneText: ['Fue eliminado, o este acceso no lo incluye.', 'It was deleted, or this access excludes it.'],

  view: ['Ver', 'View'],
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

  invoice: {
    title: ['Comprobante', 'Invoice'],
    kind: ['Tipo de comprobante', 'Kind'],
    version: (kind: string, version: string) => [
      `${kind}, versión ${version}`,
      `${kind}, version ${version}`,
    ],
    issuer: ['Emisor', 'Issuer'],
    receiver: ['Receptor', 'Receiver'],
    id: ['Identificación', 'Id'],
    idTypes: {
      '01': ['Cédula física', 'Id of a person'],
      '02': ['Cédula jurídica', 'Id of a company'],
      '03': ['DIMEX', 'DIMEX'],
      '04': ['NITE', 'NITE'],
      '05': ['Extranjero no domiciliado', 'Foreigner without residence'],
      '06': ['No contribuyente', 'No taxpayer'],
    },
    direction: ['Para la empresa', 'For the company'],
    directions: {
      received: ['Recibido: la empresa es el receptor', 'Received: the company is the receiver'],
      issued: ['Emitido: la empresa es el emisor', 'Issued: the company is the issuer'],
      other: ['De otros: la empresa no es parte', 'Of others: the company is no party'],
    },
    date: ['Fecha', 'Date'],
    total: ['Total', 'Total'],
    tax: ['Impuesto', 'Tax'],
    rate: ['Tipo de cambio', 'Exchange rate'],
    comparison: ['Comparado con el BCCR', 'Compared with the BCCR'],
    copy: ['Copia', 'Copy'],
    others: ['Otras respuestas', 'Other responses'],
    other: (outcome: string, id: number) => [`${outcome} (documento ${id})`, `${outcome} (document ${id})`],
    consecutive: ['Consecutivo', 'Consecutive number'],
    references: ['Se refiere a', 'Refers to'],
    clave: ['Clave', 'Clave'],
    copyClave: ['Copiar la clave', 'Copy the clave'],
    belongs: ['Archivo de un comprobante', 'File of an invoice'],
    sources: {
      name: ['La clave está en el nombre del archivo.', 'The clave is in the name of the file.'],
      mail: ['Llegó en el mismo correo que el comprobante.', 'It arrived in the same mail as the invoice.'],
    },
    unreadText: ['El archivo está guardado. Detalle técnico:', 'The file is stored. Detail:'],
    warnings: {
      clave_id: ['La clave no tiene la cédula del emisor.', 'The clave does not have the id of the issuer.'],
      clave_date: ['La clave es de otra fecha.', 'The clave is of another date.'],
      clave_kind: ['La clave es de otro tipo de comprobante.', 'The clave is of another kind of invoice.'],
      clave_consecutive: [
        'La clave tiene otro número consecutivo.',
        'The clave has another consecutive number.',
      ],
      crc_rate: [
        'Está en colones, pero su tipo de cambio no es 1.',
        'It is in colones, but its exchange rate is not 1.',
      ],
      hacienda_mismatch: [
        'El emisor, el total o el impuesto no son los del comprobante: la respuesta no cuenta.',
        'The issuer, total or tax are not those of the invoice, so the response does not count.',
      ],
      clave_twice: [
        'Otro documento de esta clave tiene otro contenido: uno puede ser falso.',
        'Another document of this clave has different content: one may be forged.',
      ],
      namespace: [
        'El XML no indica su versión del formato de Hacienda.',
        'The XML does not name its version of the format of Hacienda.',
      ],
      encoding: [
        'El XML no tiene la codificación que declara: los nombres pueden verse mal.',
        'The XML does not have the encoding that it declares, so names may look wrong.',
      ],
    },
  },

  companions: {
    title: ['Documentos relacionados', 'Related documents'],
    none: ['No hay otros documentos de esta clave.', 'There are no other documents of this clave.'],
    more: ['Hay más: busque la clave en la lista.', 'There are more: search the list for the clave.'],
  },

  mail: {
    title: ['Llegó por correo', 'Arrived by mail'],
    from: ['De', 'From'],
    subject: ['Asunto', 'Subject'],
    received: ['Recibido', 'Received'],
    none: ['(ninguno)', '(none)'],
  },

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
