// Texts of signing in and of one-time links, loaded with them.

import { textTable } from './table-texts.ts'

export const DOORS = textTable({
  secret: ['Clave de acceso', 'Access key'],
  server: ['Servidor', 'Server'],
  show: ['Mostrar', 'Show'],
  hide: ['Ocultar', 'Hide'],
  remember: ['Recordar este equipo durante 30 días', 'Remember this computer for 30 days'],
  enter: ['Entrar', 'Sign in'],
  enterAgain: ['Volver a entrar', 'Sign in again'],
  entering: ['Entrando…', 'Signing in…'],
  cancel: ['No entrar', 'Do not sign in'],
  withoutKey: ['Ver los tipos de cambio sin entrar', 'See the exchange rates without signing in'],
  noKey: [
    '¿No tiene clave? Pida un enlace de acceso a quien administra cambista. Sirve una vez y durante 24 horas.',
    'No key? Request an access link from whoever runs cambista. It works once, for 24 hours.',
  ],
  admin: ['¿Administra el servidor?', 'Do you run the server?'],
  adminText: [
    'Cree un enlace de acceso para una persona, o una clave para pegarla aquí:',
    'Make an access link for a person, or a key to paste here:',
  ],
  adminHttps: [
    'Desde otro equipo se entra por HTTPS. Este comando crea un certificado:',
    'From another computer people sign in over HTTPS. This command makes a certificate:',
  ],
  name: ['NOMBRE', 'NAME'],
  wrong: [
    'Esa clave no sirve. Revise que esté completa o pida otra.',
    'That key does not work. Check that it is complete, or request another.',
  ],
  tooMany: [
    'Demasiados intentos fallidos desde este equipo. Espere un minuto.',
    'Too many failed attempts from this computer. Wait a minute.',
  ],
  insecure: [
    'Esta dirección no protege su clave: abra la página con https://, o avise a quien administra el servidor.',
    'This address does not protect your key: open the page with https://, or tell whoever runs the server.',
  ],
  storage: [
    'El navegador no permite guardar la sesión: habilite el almacenamiento de este sitio.',
    'The browser does not let the page store its session: allow storage for this site.',
  ],

  ended: {
    idle: (time: string) => [
      `Su sesión terminó: pasaron ${time} sin uso.`,
      `Your session has ended: it was unused for ${time}.`,
    ],
    age: (time: string) => [
      `Su sesión terminó: pasaron ${time} desde que entró.`,
      `Your session has ended: it began ${time} ago.`,
    ],
    closed: [
      'Su sesión terminó: se cerró en otro equipo.',
      'Your session has ended: it was closed on another computer.',
    ],
    withdrawn: [
      'Su sesión terminó: su acceso se retiró.',
      'Your session has ended: your access was withdrawn.',
    ],
    unknown: ['Su sesión terminó.', 'Your session has ended.'],
    preserved: ['Lo que estaba viendo se conserva.', 'Your view is preserved.'],
  },
  days: (count: number) => [`${count} días`, `${count} days`],
  hours: (count: number) => [`${count} horas`, `${count} hours`],

  needs: {
    key: ['Este acceso no incluye los tipos de cambio', 'This access does not include exchange rates'],
    token: ['Este acceso no incluye documentos', 'This access does not include documents'],
  },
  needsText: [
    'Escriba una clave que los incluya, o pídala a quien administra cambista. Lo demás sigue abierto.',
    'Enter a key that includes them, or request it from whoever runs cambista. The rest stays open.',
  ],
  add: ['Agregar', 'Add'],

  link: {
    title: (name: string) => [`Entrar como ${name}`, `Sign in as ${name}`],
    opens: (rights: string) => [`Con este enlace ${rights}.`, `With this link ${rights}.`],
    rates: ['los tipos de cambio', 'the exchange rates'],
    documents: (company: string) => [`los documentos de ${company}`, `the documents of ${company}`],
    allCompanies: ['todas las empresas', 'all companies'],
    sees: (things: string) => [`verá ${things}`, `you will see ${things}`],
    can: (actions: string) => [`podrá ${actions}`, `you can ${actions}`],
    both: (first: string, second: string) => [`${first}, y ${second}`, `${first}, and ${second}`],
    actions: {
      send: (company: string) => [`enviar documentos a ${company}`, `send documents to ${company}`],
      sendOthers: ['enviar otros', 'send others'],
      retry: ['ponerlos de nuevo en espera', 'put them back in the queue'],
      remove: ['eliminarlos', 'delete them'],
      claim: ['procesarlos', 'process them'],
    },
    replaces: (name: string) => [
      `Reemplaza la sesión abierta de ${name}.`,
      `It replaces the open session of ${name}.`,
    ],
    until: (day: string, time: string) => [
      `Acepte solo si usted pidió este enlace. Vence el ${day} a las ${time}, hora de Costa Rica.`,
      `Accept only if you requested this link. It expires on ${day} at ${time}, Costa Rica time.`,
    ],
    gone: [
      'Este enlace ya se usó o venció. Pida otro a quien administra cambista.',
      'This link was used already, or has expired. Request another from whoever runs cambista.',
    ],
  },
})
