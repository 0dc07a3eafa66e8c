"""A buyer that speaks plain HTTP: what anybody outside the project would write against the OpenAPI document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx


@dataclass
class Buyer:
    """A signed-in caller of one API process."""

    http: httpx.AsyncClient
    token: str
    principal: str = ""
    answers: list[int] = field(default_factory=list)

    @classmethod
    async def new_fan(cls, http: httpx.AsyncClient) -> Buyer:
        answer = await http.post("/v1/accounts", json={})
        assert answer.status_code == 201, answer.text
        body = answer.json()
        return cls(http, body["access_token"], f"account:{body['account_id']}")

    @classmethod
    async def staff(cls, http: httpx.AsyncClient, name: str, password: str, device_id: str | None = None) -> Buyer:
        body = {
            "name": name, "password": password, "device_id": device_id or str(uuid4()), "device_name": "test till",
        }  # fmt: skip
        answer = await http.post("/v1/staff/login", json=body)
        assert answer.status_code == 200, answer.text
        return cls(http, answer.json()["access_token"], f"device:{body['device_id']}")

    async def get(self, path: str) -> httpx.Response:
        return await self._call("GET", path)

    async def post(self, path: str, body: dict[str, Any], *, key: str | None = None) -> httpx.Response:
        return await self._call("POST", path, json=body, headers={"Idempotency-Key": key or str(uuid4())})

    async def hold(self, event_id: int, seats: list[int], *, key: str | None = None) -> httpx.Response:
        return await self.post(f"/v1/events/{event_id}/holds", {"seats": seats}, key=key)

    async def release(self, hold_id: str) -> httpx.Response:
        return await self._call("DELETE", f"/v1/holds/{hold_id}", headers={"Idempotency-Key": str(uuid4())})

    async def _call(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}", **more.pop("headers", {})}
        answer = await self.http.request(method, path, headers=headers, **more)
        self.answers.append(answer.status_code)
        return answer


def client(url: str, *, connections: int = 20) -> httpx.AsyncClient:
    """An HTTP client for one API process; no proxies of this machine's environment."""
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    return httpx.AsyncClient(base_url=url, timeout=30.0, limits=limits, trust_env=False)
