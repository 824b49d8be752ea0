// The service worker: requests go to the server. Only while it does not run, navigations get a page about that.
const NAME = 'offline-1';
const FILES = ['./offline.html', './offline.js', './offline.css', './icon.svg'];

self.addEventListener('install', (event) => {
  self.skipWaiting();
  event.waitUntil(
    caches.open(NAME).then((cache) => cache.addAll(FILES.map((url) => new Request(url, { cache: 'reload' })))),
  );
});

self.addEventListener('activate', (event) => {
  const isOld = (name) => name !== NAME;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const isOffline = FILES.some((file) => new URL(file, self.registration.scope).href === request.url);
  if (request.mode === 'navigate') {
    event.respondWith(fetch(request).catch(() => caches.match('./offline.html')));
  } else if (isOffline) {
    event.respondWith(fetch(request).catch(() => caches.match(request.url)));
  }
});
