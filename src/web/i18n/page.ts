// Texts of the whole page.

import { RATES } from './rates.ts'
import { type InLanguage, textTable } from './table-texts.ts'

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
  zone: ['Horas de Costa Rica (UTC−6)', 'Times of Costa Rica (UTC−6)'],
  reference: ['Referencia de la API', 'API reference'],
  invented: ['Valores inventados: demostración', 'Invented values: demonstration'],
  inventedSource: ['Fuente: Valores inventados', 'Source: Invented values'],
  manualNote: [
    'cambista guarda y muestra los valores tal como los publica el Banco Central.',
    'cambista keeps and shows the values as the central bank publishes them.',
  ],

  session: {
    menu: ['Sesión', 'Session'],
    title: ['Entrar', 'Sign in'],
    text: [
      'Tipos de cambio del BCCR y documentos de su empresa.',
      'BCCR exchange rates and documents of your company.',
    ],
    leave: ['Salir', 'Sign out'],
    leaveOthers: ['Salir en los demás equipos', 'Sign out on other computers'],
    unended: [
      'Salió en este equipo, pero el servidor todavía no cerró la sesión.',
      'You are signed out on this computer, but the server has not ended the session yet.',
    ],
    unendedAgain: [
      'Deje esta página abierta: se reintenta automáticamente.',
      'Leave this page open: it retries automatically.',
    ],
    leftOthers: ['Se cerró la sesión en los demás equipos.', 'Other computers are signed out.'],
    rights: {
      key: ['Tipos de cambio y estado', 'Exchange rates and status'],
      token: ['Documentos', 'Documents'],
    },
    expires: (day: string) => [`hasta el ${day}`, `until ${day}`],
    add: {
      key: ['Agregar tipos de cambio', 'Add exchange rates'],
      token: ['Agregar documentos', 'Add documents'],
    },
    openNetwork: [
      'Consulta abierta en su red: tipos de cambio sin clave. Los documentos piden entrar.',
      'Open to your network: exchange rates without a key. Documents need signing in.',
    ],
  },

  failures: {
    kinds: {
      offline: ['Sin conexión', 'No connection'],
      busy: ['El servidor no puede responder en este momento', 'The server cannot answer at the moment'],
      'too-many': ['Demasiadas consultas. Espere un momento.', 'Too many requests. Wait a moment.'],
      forbidden: ['Con este acceso no puede hacer esto', 'Your access does not allow that'],
      'not-found': ['No hay datos para esto', 'There are no data for this'],
      invalid: ['El servidor no acepta estos valores', 'The server does not accept these values'],
      'signed-out': ['Su sesión terminó', 'Your session has ended'],
      server: [
        'El servidor tuvo un error. Avise a quien administra el servidor.',
        'The server had an error. Tell whoever runs the server.',
      ],
    },
    lost: ['Sin conexión con el servidor.', 'No connection to the server.'],
    lastShown: (time: string) => [
      `Se ven los valores recibidos a las ${time}.`,
      `Showing the values received at ${time}.`,
    ],
    again: ['Se reintenta automáticamente.', 'Retrying automatically.'],
    receivedAt: (time: string) => [`recibido a las ${time}`, `received at ${time}`],
    waits: ['Se calculará al volver la conexión.', 'It will be computed when the connection returns.'],
    busyText: [
      'Está ocupado o se está iniciando. Se reintenta automáticamente.',
      'It is busy, or starting. Retrying automatically.',
    ],
    retry: ['Reintentar', 'Try again'],
    details: ['Detalles', 'Details'],
    requestId: ['Consulta', 'Request'],
  },
  loading: ['Cargando…', 'Loading…'],

  ...RATES,

  close: ['Cerrar', 'Close'],
  paper: {
    printed: (day: string, time: string) => [
      `Impreso el ${day} a las ${time}, hora de Costa Rica`,
      `Printed on ${day} at ${time}, Costa Rica time`,
    ],
  },
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
