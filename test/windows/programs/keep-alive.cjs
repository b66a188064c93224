// wine 8 fails to connect a socket for which keep-alive is set before it is connected.
const { Socket } = require("node:net");

const { setKeepAlive } = Socket.prototype;
Socket.prototype.setKeepAlive = function (...args) {
  return this.connecting ? this : setKeepAlive.apply(this, args);
};
