// Texts of the screen of documents, loaded with it.

import { textTable } from './table.ts'

export const DOCUMENTS = textTable({
  documents: {
    companyId: (id: number) => [`Empresa ${id}`, `Company ${id}`],
    agentId: (id: number) => [`Agente ${id}`, `Agent ${id}`],
    company: ['Empresa', 'Company'],
    agent: ['Agente', 'Agent'],
    owner: ['Propietario', 'Owner'],
    all: ['Todos', 'All'],
    allCompanies: ['Todas', 'All'],
    list: ['Recibidos', 'Received'],
    type: ['Tipo', 'Type'],
    size: ['Tamaño', 'Size'],
    time: ['Recibido', 'Received'],
    hash: ['SHA-256', 'SHA-256'],
    sender: ['Enviado por', 'Sent by'],
    preview: ['Ver', 'View'],
    previewOf: (name: string) => [`Ver ${name}`, `View ${name}`],
    download: ['Descargar', 'Download'],
    downloadOf: (name: string) => [`Descargar ${name}`, `Download ${name}`],
    downloading: ['Descargando…', 'Downloading…'],
    openPdf: ['Abrir el PDF en otra pestaña', 'Open the PDF in another tab'],
    none: ['Todavía no ha llegado ningún documento', 'No document has arrived yet'],
    noneText: [
      'Los que lleguen aparecen aquí por sí solos. También puede enviar el primero.',
      'Those that arrive appear here by themselves. You can also send the first one.',
    ],
    noneFound: ['No hay documentos de esta selección', 'There are no documents for this selection'],
    more: ['Mostrar más antiguos', 'Show older ones'],
    fresh: (count: number) => [
      count === 1 ? 'Llegó un documento' : `Llegaron ${count} documentos`,
      count === 1 ? 'One document has arrived' : `${count} documents have arrived`,
    ],
    lost: ['El contenido se perdió en el servidor', 'The server lost its content'],
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
    live: ['Se actualiza por sí sola', 'Updates by itself'],
    waiting: ['Sin conexión: prueba de nuevo', 'No connection: trying again'],
    cannotRead: ['Este token no permite leer documentos', 'This token does not allow reading documents'],
    cannotReadText: [
      'Hace falta un token con documents:GET. Con este puede enviar.',
      'That needs a token with documents:GET. With this one you can send.',
    ],
  },

  upload: {
    title: ['Enviar documentos', 'Send documents'],
    drop: ['Suelte archivos aquí', 'Drop files here'],
    choose: ['Elegir archivos', 'Choose files'],
    pick: ['Elija empresa, agente y propietario para enviar.', 'Choose company, agent and owner to send.'],
    forbidden: ['Este token no permite enviar documentos.', 'This token does not allow sending documents.'],
    reading: ['Leyendo', 'Reading'],
    sending: ['Enviando', 'Sending'],
    saving: ['Guardando', 'Saving'],
    done: ['Guardado', 'Saved'],
    failed: ['No se guardó', 'Not saved'],
    again: ['Enviar de nuevo', 'Send again'],
    stop: ['Detener', 'Stop'],
    clear: ['Quitar de la lista', 'Remove from the list'],
    emptyFile: ['El archivo está vacío.', 'The file is empty.'],
    folder: ['No se pueden leer carpetas: suelte archivos.', 'Folders cannot be read: drop files.'],
    tooLarge: ['El archivo supera el límite del servidor.', 'The file is larger than the server allows.'],
    full: [
      'El servidor no tiene espacio o cupo para este archivo.',
      'The server has no space or quota for this file.',
    ],
    progress: (name: string) => [`Avance de ${name}`, `Progress of ${name}`],
    noAgents: ['Esta empresa no tiene agentes activos.', 'This company has no active agents.'],
  },
})
