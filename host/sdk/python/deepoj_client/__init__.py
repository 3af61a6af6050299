"""Hand programs in to Deep-OJ, wait for their verdicts, run programs, and take packages in.

    client = Client("http://127.0.0.1:8080", key="doj_…")
    receipt = client.submit("aplusb", "python", "print(sum(map(int, input().split())))")
    print(client.wait(receipt["job_id"])["result"]["verdict"])
"""

from .client import DONE, Client, Refused

__all__ = ["DONE", "Client", "Refused"]
