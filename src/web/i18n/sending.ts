// Texts for sending documents, loaded when it is opened.

import { textTable } from './table-texts.ts'

export const SENDING = textTable({
  intro: [
    'Facturas, recibos y estados de cuenta: el agente los lee y aquí se ve qué pasó con cada uno.',
    'Invoices, receipts and statements: the agent reads them, and here you see what became of each.',
  ],
  company: ['Empresa', 'Company'],
  agent: ['Agente', 'Agent'],
  owner: ['A nombre de', 'In the name of'],
  drop: ['Arrastre los archivos aquí', 'Drag the files here'],
  photoOrFiles: ['Tome una foto o elija archivos', 'Take a photo or choose files'],
  kinds: ['PDF, XML, imágenes, Word o Excel', 'PDF, XML, images, Word or Excel'],
  choose: ['Elegir archivos', 'Choose files'],
  photo: ['Tomar una foto', 'Take a photo'],
  missing: {
    company: ['Elija la empresa.', 'Choose the company.'],
    agent: ['Elija el agente.', 'Choose the agent.'],
    owner: ['Elija a nombre de quién se envía.', 'Choose in whose name it is sent.'],
  },
  noAgents: [
    'Esta empresa no tiene agentes activos. Avise a quien administra cambista.',
    'This company has no active agents. Tell whoever runs cambista.',
  ],
  noOwners: [
    'Esta empresa no tiene a nombre de quién enviar. Avise a quien administra cambista.',
    'This company has nobody in whose name to send. Tell whoever runs cambista.',
  ],
  forbidden: [
    'Con este acceso no puede enviar documentos. Pídalo a quien administra cambista.',
    'You cannot send documents with this access. Request it from whoever runs cambista.',
  ],
  folder: ['Las carpetas no se envían: arrastre los archivos.', 'Folders are not sent: drag the files.'],
  queued: ['En cola', 'Queued'],
  sending: (percent: number) => [`Enviando, ${percent} %`, `Sending, ${percent} %`],
  received: ['Recibido · en espera del agente', 'Received · waiting for the agent'],
  failed: (reason: string) => [`No se envió: ${reason}`, `Not sent: ${reason}`],
  emptyFile: ['el archivo está vacío.', 'the file is empty.'],
  unreadable: [
    'el archivo cambió o no se puede leer. Elíjalo otra vez.',
    'the file has changed or cannot be read. Choose it again.',
  ],
  tooLarge: ['el archivo supera el límite del servidor.', 'the file is larger than the server allows.'],
  full: [
    'el servidor no tiene espacio o cupo para este archivo.',
    'the server has no space or quota for this file.',
  ],
  again: ['Enviar de nuevo', 'Send again'],
  stop: ['Detener', 'Stop'],
  clear: ['Quitar de la lista', 'Remove from the list'],
  progress: (name: string) => [`Avance de ${name}`, `Progress of ${name}`],
})
