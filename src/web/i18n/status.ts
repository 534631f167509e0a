// Texts of the status screen and of an empty database, loaded with them.

import { textTable } from './table-texts.ts'

/** `figure`: the count in digits. */
type FailureFacts = { host?: string; status?: number; count?: number; figure?: string }

export const STATUS = textTable({
  updatedAt: (time: string) => [`Actualizado a las ${time}`, `Updated at ${time}`],
  otherCause: ['Otra causa', 'Another cause'],

  data: {
    title: ['Actualización de los datos', 'Data updates'],
    fresh: ['Al día', 'Up to date'],
    stale: ['Atrasado', 'Behind'],
    none: ['Sin datos', 'No data'],
    freshText: [
      'El dólar y las demás monedas están al día.',
      'The dollar and the other currencies are up to date.',
    ],
    retries: ['Se reintenta automáticamente.', 'Retrying automatically.'],
    off: [
      'La sincronización automática está desactivada: avise a quien administra el servidor.',
      'Automatic sync is off: tell whoever runs the server.',
    ],
    offFact: ['La sincronización automática está desactivada', 'Automatic sync is off'],
    newest: ['Dólar más reciente', 'Newest dollar'],
    others: ['Demás monedas', 'Other currencies'],
    lastSync: ['Última sincronización', 'Last sync'],
    lastGood: (instant: string) => [`última completa: ${instant}`, `last one without failures: ${instant}`],
    nextSync: ['Próxima sincronización', 'Next sync'],
    decimals: ['Decimales', 'Decimals'],
    complete: ['Completos', 'Complete'],
    indicators: {
      name: ['Indicadores', 'Indicators'],
      history: (done: string, all: string) => [
        `historia completa: ${done} de ${all}`,
        `whole history: ${done} of ${all}`,
      ],
      waiting: (count: string) => [
        `esperan el token del BCCR: ${count}`,
        `waiting for the BCCR token: ${count}`,
      ],
      refused: (count: string) => [`rechazados por el BCCR: ${count}`, `refused by the BCCR: ${count}`],
    },
    completeText: ['con todos los decimales que publica el BCCR', 'with every decimal the BCCR publishes'],
    rounded: (count: number, figure: string) => [
      count === 1 ? 'Un valor redondeado' : `${figure} valores redondeados`,
      count === 1 ? 'One rounded value' : `${figure} rounded values`,
    ],
    roundedText: ['como los redondeó su fuente', 'as their source rounded them'],
  },

  documents: {
    title: ['Documentos', 'Documents'],
    good: ['Al día', 'Up to date'],
    waits: ['Hay espera', 'Waiting'],
    failures: ['Hay fallos', 'Failures'],
    goodText: [
      'Ningún documento espera desde hace más de 15 minutos.',
      'No document has been waiting for more than 15 minutes.',
    ],
    waitsText: (ago: string) => [
      `El más antiguo espera desde ${ago}: revise que el agente esté funcionando.`,
      `The oldest has been waiting since ${ago}: check that its agent is running.`,
    ],
    failuresText: (count: number) => [
      count === 1
        ? 'Hoy falló un documento: ábralo y reinténtelo.'
        : `Hoy fallaron ${count} documentos: ábralos y reinténtelos.`,
      count === 1
        ? 'One document failed today: open it and retry.'
        : `${count} documents failed today: open them and retry.`,
    ],
    waiting: ['En espera', 'Waiting'],
    working: ['En proceso', 'In progress'],
    failedToday: ['Fallaron hoy', 'Failed today'],
    showFailed: ['Ver los que fallaron', 'Show the failed ones'],
    lastClaim: ['Último agente que tomó uno', 'Last agent that took one'],
    stored: ['Guardados', 'Stored'],
    inFiles: (size: string) => [`${size} en archivos`, `${size} in files`],
  },

  server: {
    title: ['Servidor y respaldos', 'Server and backups'],
    verified: ['Verificado', 'Verified'],
    verifiedText: [
      'El último respaldo se leyó completo y coincide.',
      'The last backup was read back whole and matches.',
    ],
    notVerified: ['Sin verificar', 'Not verified'],
    notVerifiedText: [
      'El último respaldo no se ha leído de vuelta. Avise a quien administra el servidor.',
      'The last backup was not read back. Tell whoever runs the server.',
    ],
    failed: ['Con error', 'Failed'],
    failedText: [
      'El último respaldo falló. Avise a quien administra el servidor.',
      'The last backup failed. Tell whoever runs the server.',
    ],
    pending: ['Pendiente', 'Pending'],
    pendingText: ['Todavía no hay un respaldo.', 'There is no backup yet.'],
    none: ['Sin respaldos', 'No backups'],
    noneText: [
      'No hay respaldos automáticos. Pida a quien administra el servidor que los active.',
      'There are no automatic backups. Request them from whoever runs the server.',
    ],
    lastBackup: ['Último respaldo', 'Last backup'],
    verifiedAt: (instant: string) => [`verificado el del ${instant}`, `verified: that of ${instant}`],
    neverVerified: ['nunca verificado', 'never verified'],
    nextBackup: ['Próximo respaldo', 'Next backup'],
    files: ['Espacio de los archivos', 'File storage'],
    free: ['Espacio libre en disco', 'Free disk space'],
    version: ['Versión', 'Version'],
  },

  mail: {
    title: ['Buzones', 'Mailboxes'],
    good: ['Al día', 'Up to date'],
    goodText: [
      'Los adjuntos de los correos llegan como documentos.',
      'Attachments of mails arrive as documents.',
    ],
    failing: ['Con error', 'Failing'],
    failingText: (count: number) => [
      count === 1
        ? 'Un buzón no se puede leer. Avise a quien administra el servidor.'
        : `${count} buzones no se pueden leer. Avise a quien administra el servidor.`,
      count === 1
        ? 'One mailbox cannot be read. Tell whoever runs the server.'
        : `${count} mailboxes cannot be read. Tell whoever runs the server.`,
    ],
    paused: ['En pausa', 'Paused'],
    pausedText: (count: number) => [
      count === 1 ? 'Un buzón está en pausa.' : `${count} buzones están en pausa.`,
      count === 1 ? 'One mailbox is paused.' : `${count} mailboxes are paused.`,
    ],
    readAt: (instant: string) => [`leído el ${instant}`, `read on ${instant}`],
    neverRead: ['todavía no leído', 'not read yet'],
    failsSince: (cause: string, instant: string) => [
      `${cause}, desde el ${instant}`,
      `${cause}, since ${instant}`,
    ],
    taken: (count: string) => [`recibidos: ${count}`, `received: ${count}`],
    refused: (count: string) => [`rechazados: ${count}`, `refused: ${count}`],
    waiting: (count: string) => [`en espera: ${count}`, `waiting: ${count}`],
    failures: {
      secret: ['No se puede leer la contraseña', 'The password cannot be read'],
      login_refused: [
        'El servidor de correo rechazó las credenciales',
        'The mail server refused the credentials',
      ],
      token_refused: ['El servidor de autorización rechazó el acceso', 'The token server refused access'],
      token_server: ['El servidor de autorización no responde', 'The token server does not answer'],
      unreachable: ['No se pudo conectar con el servidor de correo', 'The mail server cannot be reached'],
      certificate: ['No se pudo comprobar el certificado', 'The certificate could not be verified'],
      no_encryption: ['El servidor de correo no ofrece cifrado', 'The mail server offers no encryption'],
      timeout: ['El servidor de correo tardó demasiado', 'The mail server took too long'],
      connection: ['Se cortó la conexión', 'The connection broke off'],
      no_folder: ['Falta una carpeta', 'A folder is missing'],
      same_folder: ['Dos carpetas son la misma', 'Two folders are the same'],
      no_moves: ['El servidor de correo no permite mover correos', 'The mail server cannot move mails'],
      not_moved: ['Los correos recibidos no se pueden mover', 'Received mails cannot be moved'],
      answer: ['La respuesta no se entendió', 'The answer was not understood'],
      quota: ['Se llenó el cupo de la empresa', 'The quota of the company is used up'],
      disk_full: ['No hay espacio en el disco', 'The disk is full'],
      agent: ['El agente está inactivo', 'The agent is inactive'],
      storage: ['No se pudo guardar', 'It could not be stored'],
    },
  },

  runs: {
    title: ['Últimas sincronizaciones', 'Last syncs'],
    none: ['Todavía no ha habido ninguna sincronización.', 'There has been no sync yet.'],
    state: ['Resultado', 'Result'],
    started: ['Inicio', 'Start'],
    took: (time: string) => [`en ${time}`, `in ${time}`],
    trigger: ['Origen', 'Started by'],
    source: ['Fuente: cambista, registro de sincronizaciones', 'Source: cambista, log of syncs'],
    finished: ['Fin', 'End'],
    from: ['Desde', 'From'],
    to: ['Hasta', 'To'],
    days: ['Días pedidos', 'Days requested'],
    range: (from: string, to: string) => [`${from} al ${to}`, `${from} to ${to}`],
    inserted: ['Nuevos', 'New'],
    updated: ['Corregidos', 'Corrected'],
    unchanged: ['Sin cambios', 'Unchanged'],
    states: {
      ok: ['Completa', 'OK'],
      parcial: ['Parcial', 'Partial'],
      error: ['Con error', 'Failed'],
      running: ['En curso', 'Running'],
    },
    triggers: {
      scheduler: ['programada', 'schedule'],
      startup: ['al iniciar', 'start'],
      retry: ['reintento', 'retry'],
      cli: ['a pedido', 'on request'],
      refine: ['más decimales', 'more decimals'],
      import: ['archivo importado', 'imported file'],
    },
    corrected: (count: number, values: string) => [
      `El BCCR corrigió ${count === 1 ? 'un valor' : `${count} valores`}: ${values}.`,
      `The BCCR corrected ${count === 1 ? 'one value' : `${count} values`}: ${values}.`,
    ],
    value: (pair: string, day: string) => [`${pair} del ${day}`, `${pair} of ${day}`],
    more: (count: number) => [`y ${count} más`, `and ${count} more`],
  },

  reasons: {
    stale_side: (side: string, day: string) => [
      `Falta la ${side} desde el ${day}`,
      `The ${side} rate is missing since ${day}`,
    ],
    no_value: (side: string) => [`Nunca ha llegado la ${side}`, `The ${side} rate has never arrived`],
    history_loading: (percent: number) => [
      `Se está recibiendo la historia: ${percent} %`,
      `The history is being received: ${percent} %`,
    ],
    damaged: (series: number, day: string) => [
      `Un valor guardado de la serie ${series} está dañado: el del ${day}`,
      `A stored value of series ${series} is damaged: that of ${day}`,
    ],
    last_run_failed: ['La última sincronización falló', 'The last sync failed'],
  },

  failures: {
    unreachable: ({ host = '' }: FailureFacts) => [
      `No se pudo conectar con el BCCR (${host})`,
      `The BCCR could not be reached (${host})`,
    ],
    timeout: ({ host = '' }: FailureFacts) => [
      `El BCCR tardó demasiado (${host})`,
      `The BCCR took too long (${host})`,
    ],
    tls: ({ host = '' }: FailureFacts) => [
      `No se pudo comprobar el certificado de ${host}`,
      `The certificate of ${host} could not be verified`,
    ],
    http_status: ({ status = 0 }: FailureFacts) => [
      `El BCCR respondió ${status}`,
      `The BCCR answered ${status}`,
    ],
    not_understood: (_: FailureFacts) => [
      'La respuesta del BCCR no se entendió',
      'The answer of the BCCR was not understood',
    ],
    token_refused: (_: FailureFacts) => ['El BCCR rechazó el token', 'The BCCR refused the token'],
    row_rejected: ({ count = 1, figure = '' }: FailureFacts) => [
      count === 1 ? 'Se rechazó un valor' : `Se rechazaron ${figure} valores`,
      count === 1 ? 'One value was rejected' : `${figure} values were rejected`,
    ],
    value_withheld: ({ count = 1, figure = '' }: FailureFacts) => [
      count === 1 ? 'Se retuvo un valor muy distinto' : `Se retuvieron ${figure} valores muy distintos`,
      count === 1
        ? 'One value far from the others is withheld'
        : `${figure} values far from the others are withheld`,
    ],
    interrupted: (_: FailureFacts) => ['Se interrumpió', 'It was interrupted'],
    disk_full: (_: FailureFacts) => ['No hay espacio en el disco', 'The disk is full'],
  },
  indicators: (count: number, codes: string) => [
    count === 1 ? `indicador ${codes}` : `indicadores ${codes}`,
    count === 1 ? `indicator ${codes}` : `indicators ${codes}`,
  ],
  parities: (code: string) => [`tabla de paridades (${code})`, `table of parities (${code})`],

  empty: {
    title: ['Todavía no hay tipos de cambio', 'There are no exchange rates yet'],
    plain: [
      'Todavía no hay tipos de cambio en este servidor.',
      'There are no exchange rates on this server yet.',
    ],
    receiving: [
      'El servidor está recibiendo los datos del BCCR.',
      'The server is receiving the data of the BCCR.',
    ],
    next: (time: string) => [`La próxima consulta es a las ${time}.`, `The next query is at ${time}.`],
    after: ['Los valores aparecen aquí apenas lleguen.', 'The values appear here as soon as they arrive.'],
    admin: ['¿Administra el servidor?', 'Do you run the server?'],
    command: ['Este comando los pide ahora:', 'This command requests them now:'],
  },

  export: {
    title: ['Exportar todos los valores', 'Export all values'],
    text: [
      'Cada valor guardado, con su redondeo y el momento en que se guardó, y los días que se conocen. El archivo termina con la cantidad de valores y su SHA-256; otro cambista lo lee con «cambista import».',
      'Each stored value with its rounding and the time when it was stored, and the days that are known. The file ends with the number of values and its SHA-256; another cambista reads it with “cambista import”.',
    ],
    file: (format: string) => [`Exportar ${format}`, `Export ${format}`],
    started: ['Se está guardando el archivo.', 'Your browser is saving the file.'],
  },
})
