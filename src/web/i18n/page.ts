// Texts of the whole page.

import { RATES } from './rates.ts'
import { type InLanguage, textTable } from './table.ts'

export const PAGE = textTable({
  screens: {
    rates: ['Tipos de cambio', 'Exchange rates'],
    documents: ['Documentos', 'Documents'],
    status: ['Estado', 'Status'],
  },
  sections: ['Secciones', 'Sections'],
  skip: ['Ir al contenido', 'Skip to content'],
  otherLanguage: ['English', 'Español'],
  changeLanguage: ['cambiar el idioma', 'change the language'],
  theme: {
    light: ['Usar colores claros', 'Use light colours'],
    dark: ['Usar colores oscuros', 'Use dark colours'],
  },
  sides: { compra: ['Compra', 'Buy'], venta: ['Venta', 'Sell'], referencia: ['Referencia', 'Reference'] },
  today: ['Hoy', 'Today'],
  reference: ['Referencia de la API', 'API reference'],
  manualNote: [
    'cambista guarda y muestra los valores tal como los publica el Banco Central.',
    'cambista keeps and shows the values as the central bank publishes them.',
  ],

  session: {
    menu: ['Sesión', 'Session'],
    title: ['Entrar', 'Sign in'],
    secret: ['Clave de la API o token', 'API key or token'],
    hint: [
      'Pegue la clave que imprimió «cambista key create» (cbk_…) o un token de documentos (cbt_…).',
      'Paste the key that “cambista key create” printed (cbk_…) or a token for documents (cbt_…).',
    ],
    show: ['Mostrar', 'Show'],
    hide: ['Ocultar', 'Hide'],
    enter: ['Entrar', 'Sign in'],
    entering: ['Entrando…', 'Signing in…'],
    linkHint: [
      'También puede abrir el enlace de un solo uso que imprime «cambista web --key NOMBRE».',
      'You can also open the one-time link that “cambista web --key NAME” prints.',
    ],
    wrong: [
      'Esa clave o ese token no sirve aquí. Revise que esté completo; puede estar vencido o revocado.',
      'This key or token is not valid here. Check that it is complete; it may have expired or been revoked.',
    ],
    notASecret: [
      'Una clave comienza con cbk_ y un token con cbt_. Péguelo completo, sin espacios.',
      'A key begins with cbk_ and a token with cbt_. Paste all of it, without spaces.',
    ],
    tooMany: [
      'Demasiados intentos fallidos desde este equipo. Espere un minuto y pruebe de nuevo.',
      'Too many failed attempts from this machine. Wait a minute and try again.',
    ],
    insecure: [
      'El servidor no acepta entrar por HTTP simple desde otro equipo. Abra la página por HTTPS; «cambista cert create --host NOMBRE» crea un certificado.',
      'The server does not let you sign in over plain HTTP from another machine. Open the page over HTTPS; “cambista cert create --host NAME” makes a certificate.',
    ],
    ended: [
      'La sesión terminó o su clave fue revocada. Entre de nuevo.',
      'The session has ended, or its key was revoked. Sign in again.',
    ],
    leave: ['Salir', 'Sign out'],
    key: ['Clave', 'Key'],
    token: ['Token', 'Token'],
    company: (id: number) => [`empresa ${id}`, `company ${id}`],
    allCompanies: ['todas las empresas', 'all companies'],
    expires: (day: string) => [`vence el ${day}`, `expires on ${day}`],
    addKey: ['Agregar una clave', 'Add a key'],
    addToken: ['Agregar un token', 'Add a token'],
    add: ['Agregar', 'Add'],
    needsKey: [
      'Para ver tipos de cambio y estado hace falta una clave',
      'Exchange rates and status need a key',
    ],
    needsKeyText: [
      'Esta sesión tiene solo un token de documentos. Agregue una clave de la API (cbk_…).',
      'This session has only a token for documents. Add an API key (cbk_…).',
    ],
    needsToken: ['Para ver documentos hace falta un token', 'Documents need a token'],
    needsTokenText: [
      'Esta sesión tiene solo una clave. Agregue un token de documentos (cbt_…), que crea «cambista token create».',
      'This session has only a key. Add a token for documents (cbt_…), which “cambista token create” makes.',
    ],
    storage: [
      'El navegador no permite guardar la sesión: habilite el almacenamiento de este sitio.',
      'The browser does not let the page keep its session: allow storage for this site.',
    ],
  },

  failures: {
    offline: ['No hay conexión con el servidor', 'There is no connection to the server'],
    offlineText: ['Se reintenta automáticamente.', 'Retrying automatically.'],
    lastShown: ['Se muestra lo último que llegó.', 'The last answer is shown.'],
    busy: ['El servidor no puede responder en este momento', 'The server cannot answer at the moment'],
    busyText: [
      'Está ocupado o se está iniciando. Se reintenta automáticamente.',
      'It is busy, or starting. Retrying automatically.',
    ],
    tooMany: ['Demasiadas consultas. Espere un momento.', 'Too many requests. Wait a moment.'],
    forbidden: ['Este token no permite esta acción', 'This token does not allow that'],
    notFound: ['No hay datos para esto', 'There are no data for this'],
    invalid: ['El servidor no acepta estos valores', 'The server does not accept these values'],
    server: ['El servidor tuvo un error', 'The server had an error'],
    serverText: ['Avise a quien administra el servidor.', 'Tell whoever runs the server.'],
    retry: ['Probar de nuevo', 'Try again'],
    says: ['El servidor dice:', 'The server says:'],
  },
  loading: ['Cargando…', 'Loading…'],

  ...RATES,

  close: ['Cerrar', 'Close'],
  download: {
    button: ['Descargar', 'Download'],
    preparing: ['Preparando…', 'Preparing…'],
    failed: ['No se pudo preparar el archivo.', 'The file could not be prepared.'],
  },
  health: {
    offline: ['Sin conexión', 'No connection'],
    fresh: ['Al día', 'Up to date'],
    stale: ['Atrasado', 'Behind'],
    broken: ['Con error', 'Failing'],
    unknown: ['Sin datos', 'No data'],
  },
})

export type Texts = InLanguage<typeof PAGE>
