// Timers of a page in the background are held back to one a minute; those of a worker are not.
self.onmessage = ({data: [id, ms]}) => setTimeout(() => self.postMessage(id), ms);
