# Ten lines of Python without packages: import a product into the mock service, wait for the import, find the product.
import json, os, time, urllib.request
base, key = os.environ.get("CAT_BASE_URL", "http://127.0.0.1:4010"), os.environ.get("CAT_API_KEY", "ak_mock")
def call(method, path, body=None):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    return json.load(urllib.request.urlopen(urllib.request.Request(base + path, data, headers, method=method)))
row = {"reference": "DRESS-PY", "name": "A dress", "images": [{"url": "https://cdn.example.com/dress.jpg", "orientation": "front"}]}
job = call("POST", "/v1/imports", {"rows": [row]})
while (job := call("GET", f"/v1/imports/{job['id']}"))["finished_at"] is None: time.sleep(0.1)
print(job["status"], *(f"{found['reference']} {found['name']}" for found in call("GET", "/v1/products?q=dress-py")["data"]))
